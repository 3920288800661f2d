// SPDX-License-Identifier: Apache-2.0
#include "static_region.h"

#include "remarks.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/IntrinsicInst.h"

#include <cstdint>
#include <iterator>

namespace sennit::pass {

using namespace llvm;

namespace {

constexpr StringRef kInit = "__kmpc_for_static_init_";
constexpr StringRef kFini = "__kmpc_for_static_fini";

// Of the location, which all constructs have.
bool is_worksharing_loop(const Value *location) {
    constexpr std::uint64_t kOthers = 0x400 | 0x800; // sections, distribute
    const auto *global = dyn_cast<GlobalVariable>(location->stripPointerCasts());
    if (!global || !global->hasInitializer())
        return false;
    const auto *fields = dyn_cast<ConstantStruct>(global->getInitializer());
    const auto *flags = fields && fields->getNumOperands() > 1
                            ? dyn_cast<ConstantInt>(fields->getOperand(1))
                            : nullptr;
    return flags && (flags->getZExtValue() & kOthers) == 0;
}

bool does_nothing(const Instruction &instruction) {
    if (const auto *call = dyn_cast<CallBase>(&instruction))
        return call->isDebugOrPseudoInst() || call->isLifetimeStartOrEnd() ||
               calls_openmp(instruction, "__kmpc_global_thread_num");
    return !instruction.mayReadOrWriteMemory() && !isa<ReturnInst>(instruction);
}

bool is_forked(const Function &function) {
    return function.hasLocalLinkage() && !function.use_empty() &&
           all_of(function.uses(), [](const Use &use) {
               const auto *call = dyn_cast<CallBase>(use.getUser());
               const Function *called = call ? call->getCalledFunction() : nullptr;
               return called && called->getName().starts_with("__kmpc_fork_call") &&
                      call->isArgOperand(&use);
           });
}

// With debug information what is forked only calls the region's code. Does the call hand over what
// the thread's number is read from where that code expects it, and nowhere else?
bool hands_over(const CallBase &call) {
    const Function &from = *call.getFunction();
    if (!is_forked(from) || from.size() != 1 || call.arg_size() < 2)
        return false;
    const auto argument_of = [](const Value *value) -> const Argument * {
        const auto *load = dyn_cast<LoadInst>(value);
        const auto *variable = load ? dyn_cast<AllocaInst>(load->getPointerOperand()) : nullptr;
        if (variable)
            for (const User *user : variable->users())
                if (const auto *store = dyn_cast<StoreInst>(user))
                    return dyn_cast<Argument>(store->getValueOperand());
        return dyn_cast<Argument>(value);
    };
    for (const auto &[number, operand] : enumerate(call.args())) {
        const Argument *argument = argument_of(operand.get());
        const bool is_thread = argument && argument->getArgNo() < 2;
        if (is_thread != (number < 2))
            return false;
    }
    return all_of(from.getEntryBlock(), [&](const Instruction &instruction) {
        return isa<AllocaInst, LoadInst, StoreInst, ReturnInst, CastInst>(instruction) ||
               &instruction == &call || does_nothing(instruction);
    });
}

bool is_outlined(const Function &function) {
    if (is_forked(function))
        return true;
    const auto *call = function.hasOneUse() ? dyn_cast<CallBase>(*function.user_begin()) : nullptr;
    return function.hasLocalLinkage() && call && call->getCalledFunction() == &function &&
           hands_over(*call);
}

// What is run when an exception leaves the loop, which must not be: the end of the program.
bool is_end_of_program(const BasicBlock &block) {
    return block.isLandingPad() && isa<UnreachableInst>(block.getTerminator());
}

const Instruction *first_call(const BasicBlock &block, StringRef name) {
    for (const Instruction &instruction : block)
        if (calls_openmp(instruction, name))
            return &instruction;
    return nullptr;
}

// A private variable's address goes into the list of what is reduced.
bool lists_variable(const Instruction &instruction) {
    const auto *store = dyn_cast<StoreInst>(&instruction);
    return store && isa<AllocaInst>(store->getValueOperand()) &&
           isa<AllocaInst>(store->getPointerOperand()->stripInBoundsOffsets());
}

} // namespace

bool calls_openmp(const Instruction &instruction, StringRef name) {
    const auto *call = dyn_cast<CallBase>(&instruction);
    const Function *called = call ? call->getCalledFunction() : nullptr;
    return called && called->isDeclaration() && called->getName().starts_with(name);
}

bool reads_thread_number(const Instruction &instruction) {
    const auto *load = dyn_cast<LoadInst>(&instruction);
    return load && all_of(load->users(), [](const User *user) {
               const auto *next = cast<Instruction>(user);
               return calls_openmp(*next, "__kmpc_") || reads_thread_number(*next);
           });
}

bool StaticRegion::is_bound(const Value *variable) const {
    return variable == argument(StaticInit::kLower) || variable == argument(StaticInit::kUpper) ||
           variable == argument(StaticInit::kStride) || variable == argument(StaticInit::kLast);
}

bool StaticRegion::contains(const Instruction &instruction) const {
    const BasicBlock *block = instruction.getParent();
    if (block == init->getParent())
        return init->comesBefore(&instruction);
    if (block == fini->getParent())
        return instruction.comesBefore(fini);
    return blocks.contains(block);
}

std::string static_loop_suffix(const CallInst &call) {
    constexpr std::uint64_t kStatic = 34, kNonmonotonic = 1 << 30;
    if (!calls_openmp(call, kInit) || call.arg_size() != StaticInit::kArguments)
        return "";
    const auto *schedule = dyn_cast<ConstantInt>(call.getArgOperand(StaticInit::kSchedule));
    if (!schedule || (schedule->getZExtValue() & ~kNonmonotonic) != kStatic ||
        !is_worksharing_loop(call.getArgOperand(StaticInit::kLocation)))
        return "";
    return call.getCalledFunction()->getName().drop_front(kInit.size()).str();
}

std::string find_region(CallInst &init, const LoopInfo &loops, StaticRegion &region) {
    region.init = &init;
    region.outlined = is_outlined(*init.getFunction());
    SmallVector<BasicBlock *, 16> next(successors(init.getParent()));
    while (!next.empty()) {
        BasicBlock *block = next.pop_back_val();
        if (block == init.getParent())
            return "it does not end";
        if (is_end_of_program(*block) || !region.blocks.insert(block).second)
            continue;
        if (const Instruction *fini = first_call(*block, kFini)) {
            if (region.fini && region.fini != fini)
                return "there are several ways out of it";
            region.fini = const_cast<CallInst *>(cast<CallInst>(fini));
            continue;
        }
        if (isa<ReturnInst, ResumeInst>(block->getTerminator()))
            return "there are several ways out of it";
        next.append(succ_begin(block), succ_end(block));
    }
    if (!region.fini)
        return "it does not end";
    region.blocks.erase(region.fini->getParent());
    const auto entered_from_within = [&](const BasicBlock *block) {
        return all_of(predecessors(block), [&](const BasicBlock *before) {
            return before == init.getParent() || region.blocks.contains(before);
        });
    };
    if (!entered_from_within(region.fini->getParent()) ||
        !all_of(region.blocks, entered_from_within))
        return "there are several ways into it";
    for (const BasicBlock *block : region.blocks) {
        const Loop *loop = loops.getLoopFor(block);
        while (loop && loop->getParentLoop() &&
               region.blocks.contains(loop->getParentLoop()->getHeader()))
            loop = loop->getParentLoop();
        if (!loop || !region.blocks.contains(loop->getHeader()))
            continue;
        if (region.loop && region.loop != loop)
            return "it is several loops";
        region.loop = loop;
    }
    return region.loop ? "" : "it is no loop";
}

static bool may_share_a_loop(const Instruction &instruction) {
    if (calls_openmp(instruction, "__kmpc_for_static_fini"))
        return true;
    const auto *call = dyn_cast<CallBase>(&instruction);
    return call && !isa<IntrinsicInst>(call) && !call->doesNotAccessMemory() &&
           !calls_openmp(instruction, "__kmpc_") && !calls_openmp(instruction, "omp_");
}

std::string obstacle_before(const StaticRegion &region) {
    const std::string reason = "threads may come to it that have not waited for each other: ";
    SmallVector<const Instruction *, 8> ends;
    SmallPtrSet<const BasicBlock *, 8> seen;
    const auto go_back = [&](const BasicBlock &block) {
        for (const BasicBlock *before : predecessors(&block))
            if (seen.insert(before).second)
                ends.push_back(before->getTerminator());
        return region.outlined || !block.isEntryBlock();
    };
    if (const Instruction *before = region.init->getPrevNode())
        ends.push_back(before);
    else if (!go_back(*region.init->getParent()))
        return reason + "before it is the function's beginning";
    while (!ends.empty()) {
        const Instruction *at = ends.pop_back_val();
        const BasicBlock &block = *at->getParent();
        for (; at && !calls_openmp(*at, "__kmpc_barrier"); at = at->getPrevNode())
            if (may_share_a_loop(*at))
                return reason + "before it is " + described(*at);
        if (at)
            continue;
        if (!go_back(block))
            return reason + "before it is the function's beginning";
    }
    return "";
}

std::string obstacle_behind(const StaticRegion &region) {
    SmallVector<const Instruction *, 8> starts = {&*std::next(region.fini->getIterator())};
    SmallPtrSet<const BasicBlock *, 8> seen;
    while (!starts.empty()) {
        const Instruction *at = starts.pop_back_val();
        const BasicBlock *block = at->getParent();
        for (; at; at = at->getNextNode()) {
            if (calls_openmp(*at, "__kmpc_barrier"))
                break;
            if (isa<ReturnInst>(at) && region.outlined)
                break;
            // Who is chosen adds up what the threads have; then it goes on where the others do.
            if (calls_openmp(*at, "__kmpc_reduce")) {
                const auto *choice = dyn_cast<SwitchInst>(block->getTerminator());
                if (!choice || choice->getCondition() != at)
                    return "it is followed by " + described(*at);
                if (seen.insert(choice->getDefaultDest()).second)
                    starts.push_back(&choice->getDefaultDest()->front());
                break;
            }
            if (const auto *load = dyn_cast<LoadInst>(at);
                load && load->getPointerOperand() == region.argument(StaticInit::kLast))
                return "a value of its last iteration is wanted behind it (lastprivate, linear)";
            if (!does_nothing(*at) && !reads_thread_number(*at) && !lists_variable(*at))
                return "the threads do not wait for each other behind it: it is followed by " +
                       (isa<ReturnInst>(at) ? "the function's end" : described(*at));
            if (at->isTerminator())
                for (const BasicBlock *next : successors(block))
                    if (seen.insert(next).second)
                        starts.push_back(&next->front());
        }
    }
    return "";
}

} // namespace sennit::pass
