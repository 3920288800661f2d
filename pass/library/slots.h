/* SPDX-License-Identifier: Apache-2.0
 *
 * The request-free form of each blocking call, or, where Sennit is not in the process, that itself.
 * Both have C's signature.
 */
#pragma once

typedef void function(void);

#pragma GCC visibility push(hidden)
#define SLOT(name, blocking, parameters, arguments) extern function *sennit_pass_##name;
#include "slots.inc"
#undef SLOT
extern function *sennit_pass_Isendrecv;

/* Null: Sennit's runtime does not run the tasks, or its MPI library not the calls. */
function *sennit_pass_request_free_form(const char *name);
#pragma GCC visibility pop
