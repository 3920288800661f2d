// SPDX-License-Identifier: Apache-2.0
// The blocked Cholesky factorization of paper 1 (Pereira et al., IWOMP 2021, section 4.2), which is
// J. Schuchart's fine-grained benchmark: tile (k, i) with i >= k is A[k][i]; a two-dimensional
// block-cyclic map; one task for each tile operation, each send and each receive; a received
// diagonal tile goes to the buffer B, any other to C[i], and both are used again every step, so a
// receive waits for the last reader of the step before.
//
// Communication tasks: for the diagonal tile of a step one send to every other rank that owns a
// tile of its row; for every other tile one send to every other rank that owns one it updates; a
// receive for each. This gives the numbers of the paper's Tables 2 and 4 to the digit.
#pragma once

#include "workload.h"

namespace sennit::sim {

struct CholeskyOptions {
    int n = 16384;
    int block = 512;
    int rows = 0;       // of ranks; 0: as the benchmark does, halving from the top: 32 = 4 x 8
    double gflops = 40; // of a core in dgemm
    double trsm = 0.85, syrk = 0.92, potrf = 0.5; // the others' speed, as a share of that
    bool reuse = true;                            // of receive buffers; else one for each tile
    Part exchange = Part::whole;                  // or detached, or undeferred
};

struct CholeskyCounts {
    std::uint64_t potrf = 0, trsm = 0, syrk = 0, gemm = 0, send = 0;
    std::uint64_t compute() const { return potrf + trsm + syrk + gemm; }
};

class Cholesky final : public Workload {
  public:
    Cholesky(const CholeskyOptions &options, int ranks);

    std::vector<std::string> functions() const override;
    std::uint32_t data_of(int rank) const override;
    Tasks tasks_of(int rank, Marks marks) const override;
    std::uint64_t task_count() const override;

    CholeskyCounts counts() const; // closed forms, for comparison
    double flops() const;
    int rows() const { return rows_; }
    int columns() const { return columns_; }

  private:
    int owner(int k, int i) const { return k % rows_ * columns_ + i % columns_; }
    bool wants(int rank, int k, int i) const;
    void find_users(int k, int i, std::vector<int> &users) const;
    std::uint64_t message_of(int k, int i, int user) const;
    int clause_of(Marks marks, int step, int row, int column) const;

    CholeskyOptions options_;
    int tiles_, ranks_, rows_, columns_;
    Time potrf_, trsm_, syrk_, gemm_;
};

} // namespace sennit::sim
