// SPDX-License-Identifier: Apache-2.0
// is_sound() of structures: true as they are, false when something in them is damaged.
#include "base/assert.h"
#include "node/board.h"
#include "node/identity.h"
#include "openmp/team/team.h"
#include "tasks/sched/queue.h"
#include "tasks/task/depend.h"

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

using namespace sennit;
using sched::Item;
using sched::OrderedQueue;
using sched::ReadyQueue;

namespace {

// `damage` puts `value` in the place of what stands there: then `sound` says no. Put right again it
// says yes.
template <class T, class Sound>
void expect_seen(T &place, T value, Sound sound) {
    EXPECT_TRUE(sound());
    const T before = std::exchange(place, value);
    EXPECT_FALSE(sound());
    place = before;
    EXPECT_TRUE(sound());
}

std::vector<Item> items(std::initializer_list<int> priorities) {
    std::vector<Item> made;
    for (const int priority : priorities)
        made.push_back({{nullptr}, {nullptr}, priority, static_cast<std::uint32_t>(made.size())});
    return made;
}

} // namespace

TEST(Sound, AReadyQueueKnowsWhereEachPriorityIs) {
    std::vector<Item> all = items({0, 0, 3, 3, 70});
    ReadyQueue queue;
    const auto sound = [&] { return queue.is_sound(); };
    EXPECT_TRUE(sound());
    for (Item &item : all)
        queue.push(&item, ReadyQueue::End::back);
    expect_seen(all[1].priority, 5, sound);           // it is in the ring
    expect_seen(all[4].priority, 3, sound);           // it is in another list
    expect_seen(all[3].prev, &all[4], sound);         // not the one before
    expect_seen(all[2].next, (Item *)nullptr, sound); // one is lost
    while (queue.take_front()) {
    }
    EXPECT_TRUE(sound());
}

TEST(Sound, AnOrderedQueueKnowsItsTasksPlaces) {
    if (sched::Worker *const worker = sched::Worker::self())
        omp::release_threads(*worker); // they would look for queues that their teams do not have
    sched::detail::g_rules = policy::rules_of(Policy::ma3, Order::automatic);
    std::vector<Item> all = items({0, 0, 4, 2, 9, 0});
    OrderedQueue queue;
    OrderedQueue other;
    const auto sound = [&] { return queue.is_sound(); };
    EXPECT_TRUE(sound());
    for (Item &item : all)
        queue.push(&item);
    for (Item &item : all) { // of the line and of the heap
        expect_seen(item.position, item.position + 1, sound);
        expect_seen(item.queue, &other, sound);
    }
    all[1].change_priority(7); // it has not moved yet: nothing is wrong
    EXPECT_TRUE(sound());
    OrderedQueue::moved(&all[1]);
    EXPECT_TRUE(sound());
    while (queue.take()) {
    }
    EXPECT_TRUE(sound());
    sched::detail::g_rules = policy::Rules{};
}

TEST(Sound, ATableOfDependencesCountsThePlacesOfItsNodes) {
    const auto in_region = [](omp::Member &, void *) {
        sched::Worker &worker = omp::here();
        int x = 0;
        int y = 0;
        const auto make = [&](std::vector<task::Depend> depends) -> Task & {
            Task &made = *task::allocate(worker, 0);
            task::set_up(worker, made, [](Task &) {}, nullptr, 0, 0);
            task::submit(worker, made, depends.data(), static_cast<int>(depends.size()));
            return made;
        };
        using enum task::DependKind;
        make({{nullptr, out}}); // omp_all_memory: it takes the place of all before
        Task &writer = make({{&x, out}});
        Task &reader = make({{&x, in}, {&y, out}});
        make({{&y, mutexinoutset}, {&x, in}});
        const DependTable &table = *worker.task->children_depend;
        const auto sound = [&] { return task::is_sound(table); };
        expect_seen(writer.depend->places, writer.depend->places + 1, sound);
        expect_seen(reader.depend->places, reader.depend->places - 1, sound);
        task::wait_children(worker);
        EXPECT_TRUE(sound());
    };
    omp::parallel(omp::here(), 1, in_region, nullptr);
}

TEST(Sound, ABoardKnowsItsSlotsAndTheUsersOfItsCores) {
    std::string folder = std::filesystem::temp_directory_path() / "sennit-sound-XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    node::Board board;
    node::Reason reason;
    ASSERT_TRUE(board.open((folder + "/board").c_str(), reason)) << reason.text;
    ASSERT_NE(board.join(7, node::ProcessInfo{}), nullptr);
    EXPECT_TRUE(board.is_sound());
    node::BoardSlot &beyond = board.slot(board.slots_end()); // nobody has taken it
    beyond.job.store(7);
    EXPECT_FALSE(board.is_sound());
    beyond.job.store(0);
    EXPECT_TRUE(board.is_sound());
    board.core_table().set_owner(0, board.slots_end());
    EXPECT_FALSE(board.is_sound());
    board.core_table().set_owner(0, 0);
    EXPECT_TRUE(board.is_sound());
    board.leave(board.slot(0));
    board.close();
    std::filesystem::remove_all(folder);
}

#if defined(SENNIT_CHECKED)
TEST(Sound, AWholeCheckIsDueAfterAsManyChangesAsItHasParts) {
    WholeChecks checks;
    int due = 0;
    for (int i = 0; i < 1000; ++i)
        due += checks.due(9);
    EXPECT_EQ(due, 100);
    for (int i = 0; i < 20; ++i)
        checks.due(0);
    EXPECT_TRUE(checks.due(0)); // of nothing, always
}

TEST(SoundDeathTest, AQueueThatIsDamagedEndsTheProgram) {
    std::vector<Item> all = items({3, 3});
    ReadyQueue queue;
    for (Item &item : all)
        queue.push(&item, ReadyQueue::End::back);
    all[0].next = nullptr;
    EXPECT_DEATH(
        {
            while (queue.take_front()) {
            }
        },
        "assertion failed: .*is_sound");
}
#endif
