// SPDX-License-Identifier: Apache-2.0
// What an execution did against what its program asked for.
#include "execution.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

namespace stress {
namespace {

class Differences {
  public:
    explicit Differences(const Execution &run) : run_(run), program_(run.program) {}

    std::vector<std::string> all() {
        count("nodes ran twice", run_.ran_twice);
        count("nodes went on on another thread", run_.moved);
        count("tasks had wrong firstprivate data", run_.bad_payload);
        count("wrong answers of omp_in_final", run_.bad_final);
        count("wrong answers of omp_get_max_threads", run_.bad_threads);
        count("tasks did not see what was written before their predecessor's event", run_.bad_note);
        count("values changed under a reader", run_.bad_reader);
        count("suspended tasks went on too early", run_.early_resume);
        nodes();
        orders();
        exclusions();
        values();
        locks();
        return std::move(found_);
    }

  private:
    __attribute__((format(printf, 2, 3))) void say(const char *format, ...) {
        char line[200];
        va_list arguments;
        va_start(arguments, format);
        std::vsnprintf(line, sizeof line, format, arguments);
        va_end(arguments);
        found_.emplace_back(line);
    }

    void count(const char *what, const Execution::Stamp &events) {
        if (events != 0)
            say("%u %s", events.load(), what);
    }

    static std::uint32_t get(const std::vector<Execution::Stamp> &stamps, int index) {
        return stamps[static_cast<std::size_t>(index)].load(std::memory_order_relaxed);
    }
    const Node &node(int id) const { return *program_.nodes[static_cast<std::size_t>(id)]; }
    std::uint32_t begun(int id) const { return get(run_.begun, id); }
    std::uint32_t completed(int id) const {
        return std::max(get(run_.ended, id), node(id).has_event() ? get(run_.fulfilled, id) : 0);
    }

    void nodes() {
        for (const auto &node : program_.nodes) {
            if (!begun(node->id)) {
                if (!node->cancellable || !omp_get_cancellation())
                    say("node %d was not run", node->id);
            } else if (!get(run_.ended, node->id)) {
                say("node %d did not end", node->id);
            } else if (node->has_event() && !get(run_.fulfilled, node->id)) {
                say("node %d: nobody fulfilled the event", node->id);
            }
        }
    }

    // Nodes and waits that a cancellation left out have no stamps.
    void orders() {
        for (const Order &order : program_.orders) {
            const bool sync = order.after < 0;
            const std::uint32_t after = sync ? get(run_.synced, order.sync) : begun(order.after);
            const std::uint32_t before =
                order.body_only ? get(run_.ended, order.before) : completed(order.before);
            if (!begun(order.before) || !after || before < after)
                continue;
            say("node %d was completed at %u, after %s %d at %u", order.before, before,
                sync ? "wait" : "its successor", sync ? order.sync : order.after, after);
        }
    }

    void exclusions() {
        for (const Exclusion &pair : program_.exclusions) {
            const int a = pair.one, b = pair.other;
            if (begun(a) && begun(b) && completed(a) > begun(b) && completed(b) > begun(a))
                say("nodes %d (%u to %u) and %d (%u to %u) exclude each other", a, begun(a),
                    completed(a), b, begun(b), completed(b));
        }
    }

    void values() {
        for (std::size_t i = 0; i < program_.looks.size(); ++i) {
            const Look &look = program_.looks[i];
            if (look.known && run_.found[i] != look.value)
                say("node %d found the value %u, expected %u (look %zu)", look.node, run_.found[i],
                    look.value, i);
        }
        for (std::size_t i = 0; i < program_.reductions.size(); ++i)
            if (program_.reductions_known[i] && run_.reductions[i] != program_.reductions[i])
                say("reduction %zu is %u, expected %u", i, run_.reductions[i],
                    program_.reductions[i]);
    }

    void locks() {
        for (int i = 0; i < Execution::kLocks; ++i)
            if (run_.locked[i] != run_.uses[i])
                say("lock %d was held %u times at once with others", i,
                    run_.uses[i] - run_.locked[i]);
        if (run_.critical != run_.uses[Execution::kLocks])
            say("the critical section lost %u visits",
                run_.uses[Execution::kLocks] - run_.critical);
    }

    const Execution &run_;
    const Program &program_;
    std::vector<std::string> found_;
};

} // namespace

std::vector<std::string> differences(const Execution &run) {
    return Differences(run).all();
}

} // namespace stress
