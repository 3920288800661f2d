// SPDX-License-Identifier: Apache-2.0
// For a program that tests in a loop of its own. It may wait, or it may compute between two tests:
// nobody can tell. If it computes, a nap for each test would cost a thousand times its work. So it
// yields, and never naps for long. If a yield reached nobody, it yields again only after a multiple
// of the time that the yield took.
#pragma once

namespace sennit::mpi {

// The calling thread has tested some times in vain.
void rest_between_tests();

} // namespace sennit::mpi
