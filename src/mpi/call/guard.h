// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

namespace sennit::mpi {

// Holds the mutex as long as it lives.
class Guard {
  public:
    explicit Guard(pthread_mutex_t &mutex) : mutex_(mutex) { pthread_mutex_lock(&mutex_); }
    ~Guard() { pthread_mutex_unlock(&mutex_); }
    Guard(const Guard &) = delete;
    Guard &operator=(const Guard &) = delete;

  private:
    pthread_mutex_t &mutex_;
};

} // namespace sennit::mpi
