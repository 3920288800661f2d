/* SPDX-License-Identifier: Apache-2.0
 *
 * The grid as PNG, by libpng: of a large grid every so manieth cell. Black is the coldest, white
 * the hottest temperature of the picture.
 */
#include "gauss_seidel.h"

#ifdef WITH_PNG
#include <png.h>
#include <stdlib.h>
#include <string.h>

struct picture {
    const struct grid *grid;
    int rows, columns; /* pixels */
    int next;          /* row of pixels */
    double *values;
};

bool can_draw(void) {
    return true;
}

static int limited(int cells) {
    enum { most = 1024 };
    return cells < most ? cells : most;
}

/* Which cell is pixel p? */
static int sample(int p, int pixels, int cells) {
    return (int)((long)p * cells / pixels);
}

static void add_row(void *data, int row, const double *cells) {
    struct picture *picture = data;
    const int height = picture->grid->all_rows + 2, width = picture->grid->columns + 2;
    if (picture->next == picture->rows || sample(picture->next, picture->rows, height) != row)
        return;
    double *values = picture->values + (size_t)picture->next++ * (size_t)picture->columns;
    for (int p = 0; p < picture->columns; ++p)
        values[p] = cells[sample(p, picture->columns, width)];
}

/* Black, red, yellow, white. */
static void colour(double heat, png_bytep pixel) {
    for (int i = 0; i < 3; ++i) {
        const double part = 3.0 * heat - i;
        pixel[i] = (png_byte)(255.0 * (part < 0.0 ? 0.0 : part > 1.0 ? 1.0 : part) + 0.5);
    }
}

static int write_picture(const struct picture *picture, const char *path) {
    const size_t count = (size_t)picture->rows * (size_t)picture->columns;
    double low = picture->values[0], high = low;
    for (size_t i = 0; i < count; ++i) {
        low = picture->values[i] < low ? picture->values[i] : low;
        high = picture->values[i] > high ? picture->values[i] : high;
    }
    png_bytep pixels = need(malloc(3 * count), "the picture");
    for (size_t i = 0; i < count; ++i)
        colour(high > low ? (picture->values[i] - low) / (high - low) : 0.0, pixels + 3 * i);
    png_image image;
    memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    image.width = (png_uint_32)picture->columns;
    image.height = (png_uint_32)picture->rows;
    image.format = PNG_FORMAT_RGB;
    const int written = png_image_write_to_file(&image, path, 0, pixels, 0, NULL);
    if (!written)
        say(0, "%s: %s", path, image.message);
    free(pixels);
    return written ? 0 : bad_input;
}

int draw(const struct grid *grid, const char *path) {
    struct picture picture = {
        .grid = grid, .rows = limited(grid->all_rows + 2), .columns = limited(grid->columns + 2)};
    if (grid->rank == 0)
        picture.values = need(
            malloc((size_t)picture.rows * (size_t)picture.columns * sizeof(double)), "the picture");
    gather_rows(grid, add_row, &picture);
    int code = grid->rank == 0 ? write_picture(&picture, path) : 0;
    MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
    free(picture.values);
    return code;
}

#else /* the option is refused */

bool can_draw(void) {
    return false;
}

int draw(const struct grid *grid, const char *path) {
    (void)grid, (void)path;
    return not_here;
}

#endif
