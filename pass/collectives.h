// SPDX-License-Identifier: Apache-2.0
// Collective calls. MPI does not match a blocking one with its non-blocking form on another rank.
// So nothing is done with them, unless the whole program is compiled with -sennit-collectives. Then
// no file of it calls a blocking one any more: each call becomes one of libsennit-pass.a
// (library/collectives.c), which starts the non-blocking form, and waits, now or later.
//
// Two on one communicator may be under way together if no rank could tell. It could if from the end
// of the second it learned something of the first that is not so: that a rank has come which the
// first had to wait for on yet another rank (MPI_Reduce, and then MPI_Bcast by its root, are a
// barrier). So what counts is whom each waits for.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

namespace sennit::pass {

struct Collective {
    enum Shape { from_root, to_root, all }; // who waits for whom
    struct Part {                           // of what it sends or receives: places of arguments
        enum Length { once, by_rank, each };
        unsigned memory;
        unsigned count;
        unsigned type; // each: behind the counts and their places
        Length length; // of one rank, of all, or of each as an array says
        bool is_received;
        bool only_at_root; // the arguments of other ranks mean nothing
        unsigned places() const { return count + 1; }
    };
    const char *name; // "MPI_Bcast"
    unsigned arguments;
    Shape shape;
    int operation, root; // places of arguments; -1: there is none
    unsigned part_count;
    Part parts[2];

    unsigned communicator() const { return arguments - 1; }
    // Some ranks may have no data, so that nobody waits for them.
    bool varies() const;
};

// Is the whole program compiled for it?
bool moves_collectives();
// Null: `call` is something else, or they are not moved.
const Collective *collective(const llvm::CallBase &call);

struct Buffer {
    llvm::Value *memory;
    bool is_written;
};
// Of all memory that is in use until the call is over.
llvm::SmallVector<Buffer, 2> buffers_of(const Collective &what, const llvm::CallBase &call);
// Of what the call brings. Null: nothing.
const llvm::Value *received_buffer(const Collective &what, const llvm::CallBase &call);
// Is it MPI_IN_PLACE, of MPICH or of Open MPI?
bool is_in_place(const llvm::Value *memory);
// Null: it may be started before it is waited for. Else why not.
const char *obstacle(const Collective &what, const llvm::CallBase &call);
// May `next` be started while `one` is under way? Same communicator.
bool may_follow(const Collective &one, const llvm::CallBase &one_call, const Collective &next,
                const llvm::CallBase &next_call);

// In place of all that is left of them. Has the module changed?
bool replace_collectives(llvm::Module &module);
// The library's function with the call's arguments: "start_" (with a batch before them), "bound_".
// `wide`: handles are pointers.
llvm::FunctionCallee library_function(llvm::Module &module, llvm::StringRef what,
                                      const Collective &collective, llvm::FunctionType *type,
                                      bool wide);

} // namespace sennit::pass
