/* SPDX-License-Identifier: Apache-2.0
 *
 * A checkpoint is an HDF5 file with one dataset, `temperature`: the grid with its border, a row
 * after the other, as rank 0 gets them. Its attribute `iterations` says how many were made. A file
 * is complete when it has its name: it is written under another one.
 */
#include "gauss_seidel.h"

#ifdef WITH_HDF5
#include <errno.h>
#include <hdf5.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct checkpoint {
    hid_t file, set, space, row; /* the dataset, its shape, and that of a row */
    int width;
    bool failed;
};

bool can_checkpoint(void) {
    return true;
}

static void close_checkpoint(struct checkpoint *checkpoint) {
    if (checkpoint->row >= 0)
        H5Sclose(checkpoint->row);
    if (checkpoint->space >= 0)
        H5Sclose(checkpoint->space);
    if (checkpoint->set >= 0)
        H5Dclose(checkpoint->set);
    if (checkpoint->file >= 0 && H5Fclose(checkpoint->file) < 0)
        checkpoint->failed = true;
}

static bool select_row(const struct checkpoint *checkpoint, int row) {
    const hsize_t start[] = {(hsize_t)row, 0}, count[] = {1, (hsize_t)checkpoint->width};
    return H5Sselect_hyperslab(checkpoint->space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0;
}

static void write_row(void *data, int row, const double *cells) {
    struct checkpoint *to = data;
    if (!to->failed)
        to->failed = !select_row(to, row) || H5Dwrite(to->set, H5T_NATIVE_DOUBLE, to->row,
                                                      to->space, H5P_DEFAULT, cells) < 0;
}

static bool note_iterations(hid_t set, int iterations) {
    const hid_t one = H5Screate(H5S_SCALAR);
    const hid_t note = H5Acreate2(set, "iterations", H5T_NATIVE_INT, one, H5P_DEFAULT, H5P_DEFAULT);
    const bool written = note >= 0 && H5Awrite(note, H5T_NATIVE_INT, &iterations) >= 0;
    if (note >= 0)
        H5Aclose(note);
    H5Sclose(one);
    return written;
}

static struct checkpoint create(const struct grid *grid, const char *path, int iterations) {
    const hsize_t shape[] = {(hsize_t)grid->all_rows + 2, (hsize_t)grid->columns + 2};
    struct checkpoint made = {-1, -1, -1, -1, grid->columns + 2, false};
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    made.file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    made.space = H5Screate_simple(2, shape, NULL);
    made.row = H5Screate_simple(2, (const hsize_t[]){1, shape[1]}, NULL);
    if (made.file >= 0)
        made.set = H5Dcreate2(made.file, "temperature", H5T_NATIVE_DOUBLE, made.space, H5P_DEFAULT,
                              H5P_DEFAULT, H5P_DEFAULT);
    made.failed = made.set < 0 || !note_iterations(made.set, iterations);
    return made;
}

int write_checkpoint(const struct grid *grid, const char *path, int iterations) {
    char unfinished[PATH_MAX];
    struct checkpoint to = {-1, -1, -1, -1, 0, false};
    if (grid->rank == 0) {
        snprintf(unfinished, sizeof unfinished, "%s.unfinished", path);
        to = create(grid, unfinished, iterations);
    }
    gather_rows(grid, write_row, &to);
    int failed = 0;
    if (grid->rank == 0) {
        close_checkpoint(&to);
        failed = to.failed || rename(unfinished, path) != 0;
        if (failed) {
            remove(unfinished);
            say(0, "%s: cannot be written", path);
        }
    }
    MPI_Bcast(&failed, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return failed ? bad_input : 0;
}

/* ---- restart ---- */

static bool read_iterations(hid_t set, int *iterations) {
    const hid_t note = H5Aopen(set, "iterations", H5P_DEFAULT);
    const hid_t shape = note >= 0 ? H5Aget_space(note) : -1;
    const bool read = shape >= 0 && H5Sget_simple_extent_npoints(shape) == 1 &&
                      H5Aread(note, H5T_NATIVE_INT, iterations) >= 0 && *iterations >= 0;
    if (shape >= 0)
        H5Sclose(shape);
    if (note >= 0)
        H5Aclose(note);
    return read;
}

static bool is_double(hid_t set) {
    const hid_t type = H5Dget_type(set);
    const bool right = type >= 0 && H5Tget_class(type) == H5T_FLOAT && H5Tget_size(type) == 8;
    if (type >= 0)
        H5Tclose(type);
    return right;
}

/* What is wrong, or NULL. head: rows, columns, iterations. */
static const char *open_checkpoint(const char *path, struct checkpoint *from, int head[3]) {
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    from->file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (from->file < 0)
        return access(path, R_OK) != 0 ? strerror(errno) : "no whole HDF5 file";
    from->set = H5Dopen2(from->file, "temperature", H5P_DEFAULT);
    if (from->set < 0)
        return "no dataset 'temperature'";
    from->space = H5Dget_space(from->set);
    hsize_t shape[2] = {0, 0};
    if (H5Sget_simple_extent_ndims(from->space) != 2 ||
        H5Sget_simple_extent_dims(from->space, shape, NULL) != 2 || !is_double(from->set))
        return "'temperature' is no matrix of doubles";
    for (int i = 0; i < 2; ++i)
        if (shape[i] < 3 || shape[i] > (1 << 20) + 2)
            return "'temperature' has no cell within its border, or too many";
    if (!read_iterations(from->set, &head[2]))
        return "no attribute 'iterations', or a bad one";
    from->width = (int)shape[1];
    from->row = H5Screate_simple(2, (const hsize_t[]){1, shape[1]}, NULL);
    head[0] = (int)shape[0] - 2;
    head[1] = (int)shape[1] - 2;
    return NULL;
}

static void read_row(void *data, int row, double *cells) {
    struct checkpoint *from = data;
    if (!from->failed)
        from->failed = !select_row(from, row) || H5Dread(from->set, H5T_NATIVE_DOUBLE, from->row,
                                                         from->space, H5P_DEFAULT, cells) < 0;
}

int read_checkpoint(const char *path, struct grid *grid, int *iterations) {
    struct checkpoint from = {-1, -1, -1, -1, 0, false};
    int rank, head[4] = {0, 0, 0, 0}; /* rows, columns, iterations, failed */
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char *problem = rank == 0 ? open_checkpoint(path, &from, head) : NULL;
    if (problem) {
        say(0, "%s: %s", path, problem);
        head[3] = 1;
    }
    MPI_Bcast(head, 4, MPI_INT, 0, MPI_COMM_WORLD);
    int code = head[3] ? bad_input : make_grid(grid, head[0], head[1]);
    *iterations = head[2];
    if (!code) {
        scatter_rows(grid, read_row, &from);
        if (from.failed) {
            say(0, "%s: its data cannot be read", path);
            code = bad_input;
        }
        MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    close_checkpoint(&from);
    return code;
}

#else /* the options are refused */

bool can_checkpoint(void) {
    return false;
}

int write_checkpoint(const struct grid *grid, const char *path, int iterations) {
    (void)grid, (void)path, (void)iterations;
    return not_here;
}

int read_checkpoint(const char *path, struct grid *grid, int *iterations) {
    (void)path, (void)grid, (void)iterations;
    return not_here;
}

#endif
