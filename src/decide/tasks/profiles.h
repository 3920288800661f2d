// SPDX-License-Identifier: Apache-2.0
// Which tasks send? When MPI reports a send, the fully automatic policy (the paper, section 3.3)
// registers the profile of the task. It takes later tasks with the same profile for send-tasks.
//
// Beyond the paper: a profile also has the task's entry function, which both compilers hand us. And
// it keeps the outcomes of the last sixteen tasks. So a function which sends only now and then does
// not count as a sender, and one that stops sending is forgotten.
//
// Thread-safety: any thread may call anything; a table only grows.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

namespace sennit::policy {

// Tasks with equal keys have one profile.
struct ProfileKey {
    const void *entry = nullptr;        // the task's function
    const void *parent_entry = nullptr; // the generating task's; null for an implicit task
    std::uint32_t size = 0;             // of its data, in bytes
    std::uint32_t properties = 0;       // untied, final, mergeable, ...
    std::uint32_t dependences = 0;      // items of its depend clauses: "number of predecessors",
                                        // which must not depend on who has completed already
    bool operator==(const ProfileKey &) const = default;
};

class Profile {
  public:
    enum class Verdict : std::uint8_t { unknown, computes, sends };

    const ProfileKey key;

    // `sends`: known beforehand, and forgotten if it turns out otherwise.
    explicit Profile(const ProfileKey &given, std::optional<bool> sends = {}) : key(given) {
        if (sends)
            record(*sends);
    }

    Verdict verdict() const { return unpack(state_.load(std::memory_order_relaxed)).verdict; }

    // A task of this profile has sent, or has ended without. True when the verdict is another now.
    bool record(bool sent) {
        // As all those before, as far as we remember: the usual case.
        const std::uint32_t word = state_.load(std::memory_order_relaxed);
        return word != steady(sent) && record_change(word, sent);
    }

  private:
    struct State {
        std::uint16_t outcomes; // of the last runs, newest lowest: 1 = sent
        std::uint8_t runs;      // saturates at kRemembered
        Verdict verdict;
    };
    static constexpr int kRemembered = 16;

    static State unpack(std::uint32_t word) { return __builtin_bit_cast(State, word); }
    static State next(State before, bool sent);
    static constexpr std::uint32_t steady(bool sent) {
        return __builtin_bit_cast(std::uint32_t,
                                  State{static_cast<std::uint16_t>(sent ? 0xffff : 0), kRemembered,
                                        sent ? Verdict::sends : Verdict::computes});
    }
    bool record_change(std::uint32_t word, bool sent);

    std::atomic<std::uint32_t> state_{0};
};

class Profiles {
  public:
    static constexpr std::uint32_t kCapacity = 1024;

    Profiles() = default;
    Profiles(const Profiles &) = delete;
    Profiles &operator=(const Profiles &) = delete;
    ~Profiles();

    // The profile of such tasks, made at the first call; null when there are too many. known(entry)
    // says what is known of a new kind beforehand.
    using Known = std::optional<bool> (*)(const void *entry);
    Profile *find(const ProfileKey &key, Known known = nullptr);

    // Visit all.
    template <class Visitor>
    void each(Visitor visit) const {
        for (const auto &slot : slots_)
            if (const Profile *profile = slot.load(std::memory_order_acquire))
                visit(*profile);
    }

  private:
    std::atomic<Profile *> slots_[kCapacity] = {};
    std::atomic<std::uint32_t> used_{0};
};

} // namespace sennit::policy
