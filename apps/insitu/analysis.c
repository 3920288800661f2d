/* SPDX-License-Identifier: Apache-2.0
 * An analysis that reads the field of a running simulation (simulation.c) where it lies: of each
 * version the heat of the whole rod, which must not change, and the hottest cell.
 *
 * usage: analysis RANKS-OF-THE-SIMULATION [VERSIONS]: it ends with the simulation, or after so
 * many. */
#include "insitu.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    const int parts = argc > 1 ? atoi(argv[1]) : 1;
    const long most = argc > 2 ? atol(argv[2]) : -1;
    sennit_range *field = calloc(parts, sizeof *field);
    static long versions; /* how many it has read */
    sennit_range read;
    must(sennit_export("read", &versions, sizeof versions, &read), "export");
    for (int part = 0; part < parts; ++part) {
        char name[64];
        snprintf(name, sizeof name, "field.%d", part);
        must(sennit_import(name, a_minute, &field[part]), "import");
    }
    double hottest = 0, wrong = 0;
    for (int ended = 0; !ended && versions != most;) {
        double sum = 0, top = 0;
        for (int part = 0; part < parts && !ended; ++part) {
            struct sennit_range_state state;
            if (sennit_range_wait(field[part], versions, a_minute, NULL) != SENNIT_EXPORT_SUCCESS ||
                sennit_range_get(field[part], &state) != SENNIT_EXPORT_SUCCESS) {
                ended = 1;
                break;
            }
            const double *heat = state.address;
            const long cells = (long)(state.bytes / sizeof *heat) - 2;
            for (long i = 1; i <= cells; ++i) {
                sum += heat[i];
                top = fmax(top, heat[i]);
            }
        }
        if (ended)
            break;
        hottest = top;
        wrong = fmax(wrong, fabs(sum - 1000.0));
        ++versions;
        must(sennit_publish(read), "publish");
    }
    printf("analysis: %ld versions, hottest %.6f, heat %s\n", versions, hottest,
           wrong < 1e-6 ? "as it was" : "LOST");
    MPI_Finalize();
    return wrong < 1e-6 ? 0 : 1;
}
