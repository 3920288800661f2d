// SPDX-License-Identifier: Apache-2.0
// A program that tests in a loop of its own may wait, and it may compute between two tests: nobody
// can tell. A nap for each test would cost the latter a thousand times its work, so it never naps
// for long. It yields. Where that reached nobody, it asks again only after a multiple of the time
// that it took.
#pragma once

namespace sennit::mpi {

// The calling thread has tested some times in vain.
void rest_between_tests();

} // namespace sennit::mpi
