// SPDX-License-Identifier: Apache-2.0
#include "program.h"

#include <algorithm>
#include <set>

namespace stress {

const char *name(Step::Kind kind) {
    static const char *const names[] = {
        "task",      "taskwait", "taskwait depend", "taskwait nowait", "taskgroup", "taskloop",
        "taskyield", "critical", "a lock",          "another's event", "suspend",   "parallel",
        "work"};
    return names[kind];
}

std::uint32_t written(Access access, std::uint32_t before, int node) {
    const std::uint32_t salt = static_cast<std::uint32_t>(node) * 2654435761u + 1;
    switch (access) {
    case Access::in:
        return before;
    case Access::out:
        return salt;
    case Access::inout:
        return before * 31 + salt;
    case Access::mutexinoutset:
    case Access::inoutset:
        return before + salt; // commutes
    }
    return 0;
}

namespace {

// ---- drawing --------------------------------------------------------------------------------

class Generator {
  public:
    Generator(Program &program, const Features &features)
        : program_(program), features_(features), random_(program.seed) {}

    void run(int threads) {
        const int sizes[] = {8, 30, 100, 300};
        budget_ = 2 + random_.below(sizes[random_.below(4)]);
        program_.threads = random_.one_in(4) ? 1 + random_.below(threads + 2) : threads;
        program_.mode = random_.below(3);
        program_.pool = features_.pool && random_.one_in(4);
        const int roots = 1 + (random_.one_in(2) ? random_.below(6) : 0);
        const int each = std::max(budget_ / roots, 1);
        for (int i = 0; i < roots; ++i) {
            Node *root = fresh();
            program_.roots.push_back(root);
            fill(*root, {each, 0, false, -1, false});
        }
    }

  private:
    struct Context {
        int budget; // tasks that may still be drawn here
        int depth;  // of nodes
        bool cancellable;
        int reduction;  // of the innermost taskgroup
        bool in_region; // of a nested parallel
    };

    Node *fresh() {
        program_.nodes.push_back(std::make_unique<Node>());
        Node *node = program_.nodes.back().get();
        node->id = static_cast<int>(program_.nodes.size()) - 1;
        return node;
    }

    // The steps of a node.
    void fill(Node &node, Context context) {
        node.cells = 1 + random_.below(5);
        node.first_cell = program_.cells;
        program_.cells += node.cells;
        node.cancellable = context.cancellable;
        if (random_.one_in(6))
            node.set_threads = 1 + random_.below(5);
        node.offers = program_.pool && random_.one_in(2);
        draw(node, node.steps, context);
    }

    void draw(Node &node, std::vector<Step> &steps, Context context) {
        int left = context.budget;
        do {
            Step step;
            const int share = std::max(1, std::min(left, 1 + random_.below(left + 1)));
            switch (random_.below(24)) {
            case 0:
            case 1:
                step.kind = Step::taskwait;
                break;
            case 2:
                step.kind = Step::taskwait_depend;
                draw_depends(node, step.depends, false);
                break;
            case 3:
                step.kind = features_.newer ? Step::taskwait_nowait : Step::taskwait_depend;
                draw_depends(node, step.depends, false);
                break;
            case 4:
                step.kind = Step::yield;
                break;
            case 5:
                step.kind = random_.one_in(2) ? Step::critical : Step::lock;
                step.amount = random_.below(3);
                step.flag = features_.lock_yield && random_.one_in(2);
                break;
            case 6:
                step.kind = Step::fulfil;
                break;
            case 7:
                step.kind = features_.suspend ? Step::suspend : Step::yield;
                break;
            case 8:
            case 9:
                step.kind = Step::work;
                step.amount = random_.one_in(8) ? 20000 : random_.below(300);
                break;
            case 10:
            case 11:
                if (context.depth > 4 || left < 1)
                    continue;
                draw_group(node, step, context, share);
                left -= share;
                break;
            case 12:
                if (context.depth > 4 || left < 2)
                    continue;
                draw_loop(step, context, share);
                left -= share;
                break;
            case 13:
                if (!features_.nested || context.in_region || !random_.one_in(4) || left < 2)
                    continue;
                draw_region(step, context, share);
                left -= share;
                break;
            case 14:
                if (left < 2)
                    continue;
                left -= draw_rounds(node, steps, context, left);
                continue;
            default:
                if (left < 1)
                    continue;
                // Mostly leaves and small subtrees, so that many are siblings.
                const int below = context.depth < 5 && random_.one_in(4) ? share - 1 : 0;
                step.kind = Step::task;
                step.nodes.push_back(draw_task(node, context, below));
                left -= below + 1;
            }
            steps.push_back(std::move(step));
        } while (left > 0 || random_.one_in(2));
    }

    void draw_depends(Node &parent, std::vector<Depend> &depends, bool all_types) {
        const int count = 1 + random_.below(std::min(parent.cells, 3));
        std::set<int> taken;
        for (int i = 0; i < count; ++i) {
            const int cell = parent.first_cell + random_.below(parent.cells);
            if (!taken.insert(cell).second)
                continue;
            const int types = !all_types ? 3 : features_.newer ? 5 : 4;
            depends.push_back({cell, static_cast<Access>(random_.below(types))});
        }
    }

    // The same tasks again and again; at times something else is between them. How many tasks.
    int draw_rounds(Node &node, std::vector<Step> &steps, Context context, int most) {
        const int period = 1 + random_.below(std::min(most, random_.one_in(2) ? 2 : 5));
        std::vector<Node *> made;
        const auto add = [&](const Node *model) {
            Step step;
            step.kind = Step::task;
            step.nodes.push_back(draw_task(node, context, 0, model));
            made.push_back(step.nodes[0]);
            steps.push_back(std::move(step));
        };
        for (int i = 0; i < period; ++i)
            add(nullptr);
        const std::vector<Node *> models = made;
        const auto tasks =
            static_cast<std::size_t>(random_.one_in(2) ? period * (10 + random_.below(20)) : most);
        const bool is_regular = random_.one_in(2);
        for (int next = 0; made.size() < tasks; ++next) {
            if (!is_regular && random_.one_in(20)) {
                Step step;
                step.kind = random_.one_in(2) ? Step::taskwait : Step::taskwait_depend;
                if (step.kind == Step::taskwait_depend)
                    draw_depends(node, step.depends, false);
                steps.push_back(std::move(step));
            }
            if (!is_regular && random_.one_in(20))
                add(nullptr);
            if (is_regular || !random_.one_in(20))
                add(models[static_cast<std::size_t>(next % period)]);
        }
        return std::min(static_cast<int>(made.size()), most);
    }

    void draw_group(Node &node, Step &step, Context context, int share) {
        step.kind = Step::taskgroup;
        Context inner = context;
        inner.budget = share;
        inner.reduction = -1;
        const bool cancelled = features_.cancel && random_.one_in(5);
        inner.cancellable = inner.cancellable || cancelled;
        if (!cancelled && !program_.pool && random_.one_in(3)) {
            step.reduction = inner.reduction = static_cast<int>(program_.reductions.size());
            program_.reductions.push_back(0);
            program_.reductions_known.push_back(!inner.cancellable);
        }
        draw(node, step.steps, inner);
        if (cancelled) {
            std::vector<Node *> tasks;
            for (Step &s : step.steps)
                if (s.kind == Step::task && s.nodes[0]->shape == Shape::depend_all)
                    tasks.push_back(s.nodes[0]);
            if (!tasks.empty())
                tasks[static_cast<std::size_t>(random_.below(static_cast<int>(tasks.size())))]
                    ->shape = Shape::cancel;
        }
    }

    void draw_loop(Step &step, Context context, int share) {
        step.kind = Step::taskloop;
        step.amount = 1 + random_.below(4);
        step.flag = random_.one_in(3);
        step.other = random_.one_in(2);
        const int iterations = 1 + random_.below(std::min(share, 20));
        Context inner = context;
        inner.depth += 1;
        if (!step.flag)
            inner.reduction = -1; // a taskgroup of its own
        for (int i = 0; i < iterations; ++i) {
            inner.budget = (share - iterations) / iterations;
            Node *iteration = fresh();
            step.nodes.push_back(iteration);
            fill(*iteration, inner);
            iteration->set_threads = 0; // iterations share tasks
            draw_event(*iteration);
        }
    }

    void draw_region(Step &step, Context context, int share) {
        step.kind = Step::parallel;
        step.amount = 1 + random_.below(3);
        const int roots = 1 + random_.below(3);
        for (int i = 0; i < roots; ++i) {
            Node *root = fresh();
            step.nodes.push_back(root);
            fill(*root, {share / roots, context.depth + 1, context.cancellable, -1, true});
        }
    }

    // Also of tasks that are included: their creators wait for it.
    void draw_event(Node &node) {
        node.fulfil = static_cast<Fulfil>(random_.below(5));
        node.binds = features_.suspend && !node.detached() && random_.one_in(6);
        if (node.binds && node.fulfil == Fulfil::creator)
            node.fulfil = Fulfil::others_late;
    }

    // With a model: another task with the same dependences.
    Node *draw_task(Node &parent, Context context, int below, const Node *model = nullptr) {
        Node *node = fresh();
        if (model) {
            node->shape = model->shape;
            node->reduction = model->reduction;
            draw_rest(*node);
            node->depends = model->depends;
            return fill_task(*node, context, below);
        }
        static const Shape shapes[] = {
            Shape::plain,         Shape::plain,      Shape::payload,     Shape::depend,
            Shape::depend,        Shape::depend,     Shape::depend_all,  Shape::depend_all,
            Shape::depend_all,    Shape::depend_all, Shape::mergeable,   Shape::untied,
            Shape::depend_object, Shape::all_memory, Shape::big_payload, Shape::detach_depend,
            Shape::detach_depend, Shape::detach,     Shape::depend_null, Shape::depend_null};
        node->shape = shapes[random_.below(sizeof shapes / sizeof *shapes)];
        if (context.reduction >= 0 && random_.one_in(2)) {
            node->shape = random_.one_in(2) ? Shape::reduce : Shape::reduce_depend;
            node->reduction = context.reduction;
        }
        if (node->detached() && !features_.detach)
            node->shape = Shape::depend;
        if (node->shape == Shape::all_memory && !features_.newer)
            node->shape = Shape::depend_all;
        draw_rest(*node);
        switch (node->shape) {
        case Shape::depend:
        case Shape::depend_object:
        case Shape::untied:
            draw_depends(parent, node->depends, false);
            break;
        case Shape::depend_all:
        case Shape::depend_null:
        case Shape::mergeable:
        case Shape::big_payload:
        case Shape::detach_depend:
        case Shape::reduce_depend:
            draw_depends(parent, node->depends, true);
            break;
        case Shape::all_memory:
            for (int cell = 0; cell < parent.cells; ++cell)
                node->depends.push_back({parent.first_cell + cell, Access::inout});
            break;
        default:
            break;
        }
        return fill_task(*node, context, below);
    }

    void draw_rest(Node &node) {
        node.deferred = !random_.one_in(8);
        node.final = random_.one_in(12);
        node.priority = random_.one_in(4) ? random_.below(10) : 0;
        draw_event(node);
    }

    Node *fill_task(Node &node, Context context, int below) {
        for (const Depend &depend : node.depends)
            node.by_access[static_cast<int>(depend.access)].push_back(depend.cell);
        fill(node, {below, context.depth + 1, context.cancellable, context.reduction, false});
        return &node;
    }

    Program &program_;
    const Features &features_;
    Random random_;
    int budget_ = 0;
};

// ---- the sequential interpreter -------------------------------------------------------------

class Interpreter {
  public:
    explicit Interpreter(Program &program)
        : program_(program), values_(static_cast<std::size_t>(program.cells)) {}

    void run() {
        program_.syncs = 1; // 0: the end of the region
        Region all;
        for (Node *root : program_.roots)
            node(*root, false, program_.threads, all);
        for (const int id : all)
            program_.orders.push_back({id, -1, 0});
    }

  private:
    using Region = std::vector<int>; // the nodes made in it, at any depth

    // A dependence of an earlier sibling. One without a task only hands on what it waits for.
    struct Sibling {
        const std::vector<Depend> *depends;
        bool all_memory;
        std::vector<int> nodes;
    };
    struct Siblings {
        std::vector<Sibling> earlier;
        Region children;
        bool steady = true;
        int threads = 0;
    };

    static bool has_cancelled_child(const std::vector<Step> &steps) {
        for (const Step &step : steps) {
            for (const Node *node : step.nodes)
                if (node->cancellable)
                    return true;
            if (has_cancelled_child(step.steps))
                return true;
        }
        return false;
    }

    void node(Node &node, bool in_final, int threads, Region &made) {
        made.push_back(node.id);
        node.in_final = in_final || node.final;
        node.threads = threads;
        node.first_look = static_cast<int>(program_.looks.size());
        for (const Depend &depend : node.depends) {
            // A set of tasks in any order: what one of them reads depends on who was before.
            const bool ordered = depend.access == Access::in || depend.access == Access::inout;
            program_.looks.push_back({node.id, node.steady && ordered, value(depend.cell)});
        }
        Siblings siblings;
        siblings.steady = !node.cancellable && !has_cancelled_child(node.steps);
        siblings.threads = node.set_threads ? node.set_threads : threads;
        steps(node, node.steps, siblings, made);
        for (const Depend &depend : node.depends)
            value(depend.cell) = written(depend.access, value(depend.cell), node.id);
    }

    std::uint32_t &value(int cell) { return values_[static_cast<std::size_t>(cell)]; }

    static bool ordered(Access a, Access b) {
        return a != b || a == Access::out || a == Access::inout;
    }
    // Is whoever has the dependences `later` behind `earlier`?
    static bool behind(const Sibling &earlier, const std::vector<Depend> &later, bool all_memory) {
        if (all_memory || earlier.all_memory)
            return !later.empty() || all_memory;
        for (const Depend &a : *earlier.depends)
            for (const Depend &b : later)
                if (a.cell == b.cell && ordered(a.access, b.access))
                    return true;
        return false;
    }
    static bool excludes(const std::vector<Depend> &one, const std::vector<Depend> &other) {
        for (const Depend &a : one)
            for (const Depend &b : other)
                if (a.cell == b.cell && a.access == Access::mutexinoutset && b.access == a.access)
                    return true;
        return false;
    }
    static Region predecessors(const Siblings &siblings, const std::vector<Depend> &depends,
                               bool all_memory) {
        Region found;
        for (const Sibling &earlier : siblings.earlier)
            if (behind(earlier, depends, all_memory))
                found.insert(found.end(), earlier.nodes.begin(), earlier.nodes.end());
        return found;
    }

    int sync_after(const Region &nodes) {
        for (const int id : nodes)
            program_.orders.push_back({id, -1, program_.syncs});
        return program_.syncs++;
    }

    void look(const Node &at, Step &step, const Siblings &siblings, std::vector<int> cells) {
        step.first_look = static_cast<int>(program_.looks.size());
        for (const int cell : cells)
            program_.looks.push_back({at.id, siblings.steady, value(cell)});
        step.cells = std::move(cells);
    }

    void task(Node &parent, Node &child, Siblings &siblings, Region &made) {
        const bool all_memory = child.shape == Shape::all_memory;
        for (const int id : predecessors(siblings, child.depends, all_memory)) {
            program_.orders.push_back({id, child.id, -1});
            if (program_.nodes[static_cast<std::size_t>(id)]->has_event())
                child.events_before.push_back(id);
        }
        for (const Sibling &earlier : siblings.earlier)
            if (!earlier.nodes.empty() && excludes(*earlier.depends, child.depends))
                program_.exclusions.push_back({earlier.nodes[0], child.id});
        child.steady = siblings.steady;
        node(child, parent.in_final, siblings.threads, made);
        if (!child.deferred || parent.in_final) {
            child.sync = sync_after({child.id});
            program_.orders.back().body_only = child.detached();
        }
        if (!child.depends.empty())
            siblings.earlier.push_back({&child.depends, all_memory, {child.id}});
        siblings.children.push_back(child.id);
        if (child.reduction >= 0)
            program_.reductions[static_cast<std::size_t>(child.reduction)] +=
                written(Access::inoutset, 0, child.id);
    }

    void steps(Node &at, std::vector<Step> &list, Siblings &siblings, Region &made) {
        for (Step &step : list) {
            switch (step.kind) {
            case Step::task:
                task(at, *step.nodes[0], siblings, made);
                break;
            case Step::taskwait: {
                step.sync = sync_after(siblings.children);
                std::vector<int> cells;
                for (int i = 0; i < at.cells; ++i)
                    cells.push_back(at.first_cell + i);
                look(at, step, siblings, std::move(cells));
                break;
            }
            case Step::taskwait_depend: {
                step.sync = sync_after(predecessors(siblings, step.depends, false));
                std::vector<int> cells;
                for (const Depend &depend : step.depends)
                    cells.push_back(depend.cell);
                // With `in`, a set of readers is not waited for; they do not write.
                look(at, step, siblings, std::move(cells));
                break;
            }
            case Step::taskwait_nowait:
                siblings.earlier.push_back(
                    {&step.depends, false, predecessors(siblings, step.depends, false)});
                break;
            case Step::taskgroup: {
                Region inside;
                steps(at, step.steps, siblings, inside);
                step.sync = sync_after(inside);
                made.insert(made.end(), inside.begin(), inside.end());
                break;
            }
            case Step::taskloop: {
                Region inside;
                for (Node *iteration : step.nodes) {
                    node(*iteration, at.in_final, siblings.threads, inside);
                    siblings.children.push_back(iteration->id);
                }
                if (!step.flag) {
                    step.sync = sync_after(inside);
                } else if (at.in_final) { // its tasks are included
                    Region iterations;
                    for (const Node *iteration : step.nodes)
                        iterations.push_back(iteration->id);
                    step.sync = sync_after(iterations);
                }
                made.insert(made.end(), inside.begin(), inside.end());
                break;
            }
            case Step::parallel: {
                Region inside;
                for (Node *root : step.nodes)
                    node(*root, false, siblings.threads, inside);
                step.sync = sync_after(inside);
                made.insert(made.end(), inside.begin(), inside.end());
                break;
            }
            case Step::critical:
            case Step::lock:
            case Step::yield:
            case Step::fulfil:
            case Step::suspend:
            case Step::work:
                break;
            }
        }
    }

    Program &program_;
    std::vector<std::uint32_t> values_;
};

} // namespace

Program generate(std::uint64_t seed, int threads, const Features &features) {
    Program program;
    program.seed = seed;
    Generator(program, features).run(threads);
    Interpreter(program).run();
    return program;
}

} // namespace stress
