// SPDX-License-Identifier: Apache-2.0
// A lock whose users do not wait for it (flat combining: Hendler et al., SPAA 2010). A thread that
// finds it taken leaves what it wants to have done, and goes on. The thread that has the lock does
// it.
//
// | a thread that leaves an item           | the one that gives the lock back     |
// | 1. pushes the item                     | 1. unlocks                           |
// | 2. fences                              | 2. fences                            |
// | 3. tries to lock, to do it itself      | 3. looks for items; has the lock again, if there are |
//
// Both fences are seq_cst, so one of the two sees the other: no item is left behind. Items are done
// in the order in which they were pushed. An item that was pushed before another thread's one was
// made is done before that one.
#pragma once

#include "base/inbox.h"
#include "base/spin.h"

namespace sennit {

// `User` has combine(item), which does what an item wants and may give it back to its thread, and
// settle(), after some of them.
template <class Item, class User>
class SENNIT_IS_LOCK CombiningLock {
  public:
    bool try_lock() SENNIT_TRY_ACQUIRE(true) { return lock_.try_lock(); }
    // Waits, for those who need an answer.
    void lock() SENNIT_ACQUIRE() SENNIT_NOT_CHECKED { lock_.lock(); }

    // Before anything else is done under the lock.
    void catch_up(User &user) SENNIT_REQUIRES(this) SENNIT_NOT_CHECKED {
        if (!left_.any())
            return;
        for (Item *item = left_.take_all().oldest; item;) {
            Item *const next = item->next;
            user.combine(*item);
            item = next;
        }
    }
    void unlock(User &user) SENNIT_RELEASE() SENNIT_NOT_CHECKED {
        lock_.unlock();
        serve(user);
    }
    // By a thread that has found the lock taken.
    void leave(Item &item, User &user) SENNIT_EXCLUDES(this) {
        left_.push(item);
        serve(user);
    }

    void assert_held() const SENNIT_ASSERT_HELD() {}
    // Free, and nothing is left: a thread that the child of fork() does not have may have held it.
    void after_fork_in_child() {
        lock_.after_fork_in_child();
        left_.take_all();
    }

  private:
    void serve(User &user) SENNIT_NOT_CHECKED {
        for (;;) {
            full_fence(); // see above
            if (!left_.any() || !lock_.try_lock())
                return;
            catch_up(user);
            user.settle();
            lock_.unlock();
        }
    }

    SpinLock lock_;
    Inbox<Item> left_;
};

} // namespace sennit
