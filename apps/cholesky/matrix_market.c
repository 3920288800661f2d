/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix Market files: coordinate or array, real or integer, general or symmetric. Sparse matrices
 * become dense. A general matrix must be symmetric in its values.
 */
#include "cholesky.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    FILE *file;
    const char *path;
    long line;
    char text[1024];
};

static int fail(const struct reader *reader, const char *what) {
    if (reader->line > 0)
        fprintf(stderr, "cholesky: %s, line %ld: %s\n", reader->path, reader->line, what);
    else
        fprintf(stderr, "cholesky: %s: %s\n", reader->path, what);
    return 3;
}

/* The next line that is neither empty nor a comment. */
static bool next_line(struct reader *reader) {
    while (fgets(reader->text, sizeof reader->text, reader->file)) {
        ++reader->line;
        const char *at = reader->text;
        while (isspace((unsigned char)*at))
            ++at;
        if (*at != '\0' && *at != '%')
            return true;
    }
    return false;
}

static int allocate(struct dense *matrix, const struct reader *reader) {
    matrix->values = calloc((size_t)matrix->n * (size_t)matrix->n, sizeof(double));
    return matrix->values ? 0 : fail(reader, "no memory for the dense matrix");
}

static double *entry(struct dense *matrix, long i, long j) {
    return &matrix->values[(size_t)j * (size_t)matrix->n + (size_t)i];
}

static int read_coordinate(struct reader *reader, struct dense *matrix, bool symmetric) {
    long rows, columns, entries;
    int used = 0;
    if (!next_line(reader) ||
        sscanf(reader->text, "%ld %ld %ld %n", &rows, &columns, &entries, &used) != 3 ||
        reader->text[used] != '\0')
        return fail(reader, "expected 'rows columns entries'");
    if (rows != columns || rows < 1 || rows > 1 << 20 || entries < 0)
        return fail(reader, "the matrix must be square, with 1 to 1048576 rows");
    matrix->n = (int)rows;
    const int error = allocate(matrix, reader);
    if (error)
        return error;
    for (long k = 0; k < entries; ++k) {
        long i, j;
        double value;
        if (!next_line(reader))
            return fail(reader, "the file ends before its last entry");
        if (sscanf(reader->text, "%ld %ld %lf %n", &i, &j, &value, &used) != 3 ||
            reader->text[used] != '\0')
            return fail(reader, "expected 'row column value'");
        if (i < 1 || i > rows || j < 1 || j > rows)
            return fail(reader, "an index is outside the matrix");
        if (symmetric && j > i)
            return fail(reader, "a symmetric matrix has entries above the diagonal");
        *entry(matrix, i - 1, j - 1) += value;
    }
    return 0;
}

static int read_array(struct reader *reader, struct dense *matrix, bool symmetric) {
    long rows, columns;
    int used = 0;
    if (!next_line(reader) || sscanf(reader->text, "%ld %ld %n", &rows, &columns, &used) != 2 ||
        reader->text[used] != '\0')
        return fail(reader, "expected 'rows columns'");
    if (rows != columns || rows < 1 || rows > 1 << 20)
        return fail(reader, "the matrix must be square, with 1 to 1048576 rows");
    matrix->n = (int)rows;
    const int error = allocate(matrix, reader);
    if (error)
        return error;
    for (long j = 0; j < rows; ++j)
        for (long i = symmetric ? j : 0; i < rows; ++i) {
            if (!next_line(reader))
                return fail(reader, "the file ends before its last value");
            if (sscanf(reader->text, "%lf %n", entry(matrix, i, j), &used) != 1 ||
                reader->text[used] != '\0')
                return fail(reader, "expected one value");
        }
    return 0;
}

static int check_symmetry(const struct reader *reader, struct dense *matrix) {
    for (long j = 0; j < matrix->n; ++j)
        for (long i = j + 1; i < matrix->n; ++i) {
            const double low = *entry(matrix, i, j), high = *entry(matrix, j, i);
            if (fabs(low - high) > 1e-12 * (fabs(low) + fabs(high)))
                return fail(reader, "the matrix is not symmetric");
        }
    return 0;
}

static int read_file(const char *path, struct dense *matrix) {
    struct reader reader = {.path = path};
    reader.file = fopen(path, "r");
    if (!reader.file)
        return fail(&reader, "cannot be opened");
    char object[64] = "", format[64] = "", field[64] = "", symmetry[64] = "";
    int error;
    if (fgets(reader.text, sizeof reader.text, reader.file))
        ++reader.line;
    if (sscanf(reader.text, "%%%%MatrixMarket %63s %63s %63s %63s", object, format, field,
               symmetry) != 4 ||
        strcmp(object, "matrix") != 0) {
        error = fail(&reader, "expected '%%MatrixMarket matrix <format> <field> <symmetry>'");
    } else if (strcmp(field, "real") != 0 && strcmp(field, "integer") != 0) {
        error = fail(&reader, "only real and integer matrices can be factorized");
    } else if (strcmp(symmetry, "symmetric") != 0 && strcmp(symmetry, "general") != 0) {
        error = fail(&reader, "only symmetric and general matrices can be read");
    } else {
        const bool symmetric = strcmp(symmetry, "symmetric") == 0;
        if (strcmp(format, "coordinate") == 0)
            error = read_coordinate(&reader, matrix, symmetric);
        else if (strcmp(format, "array") == 0)
            error = read_array(&reader, matrix, symmetric);
        else
            error = fail(&reader, "the format must be coordinate or array");
        if (!error && next_line(&reader))
            error = fail(&reader, "there is more than the header announced");
        if (!error && !symmetric) {
            reader.line = 0;
            error = check_symmetry(&reader, matrix);
        }
    }
    fclose(reader.file);
    return error;
}

int read_matrix_market(const char *path, int rank, struct dense *matrix) {
    int head[2] = {0, 0}; /* error, n */
    matrix->values = NULL;
    matrix->n = 0;
    if (rank == 0) {
        head[0] = read_file(path, matrix);
        head[1] = matrix->n;
    }
    MPI_Bcast(head, 2, MPI_INT, 0, MPI_COMM_WORLD);
    if (head[0] != 0) {
        free(matrix->values);
        matrix->values = NULL;
        return head[0];
    }
    matrix->n = head[1];
    if (rank != 0) {
        const struct reader nowhere = {.path = path};
        if (allocate(matrix, &nowhere))
            MPI_Abort(MPI_COMM_WORLD, 4);
    }
    /* A column at a time: counts stay small. */
    for (int j = 0; j < matrix->n; ++j)
        MPI_Bcast(matrix->values + (size_t)j * (size_t)matrix->n, matrix->n, MPI_DOUBLE, 0,
                  MPI_COMM_WORLD);
    return 0;
}
