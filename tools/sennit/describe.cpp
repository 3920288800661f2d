// SPDX-License-Identifier: Apache-2.0
#include "describe.h"

#include "common/command_text.h"
#include "common/elf_image.h"
#include "common/failure.h"
#include "launch/launcher_options.h"
#include "launch/policy.h"
#include "pool/pool.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace sennit::tool {
namespace {

std::vector<std::string> choices_of(const std::string &command, const std::string &name) {
    if (name == "--policy")
        return command == "pool start" ? known_pool_policies() : known_policies();
    if (name == "--bind")
        return known_bindings();
    if (name == "--mpi")
        return {"auto", "mpich", "openmpi", "mpiabi"};
    if (name == "--virtual")
        return {"fibers", "processes"};
    return name == "--options" ? std::vector<std::string>{"text", "markdown", "man"}
                               : std::vector<std::string>();
}

std::vector<OptionText> launcher_texts() {
    std::vector<OptionText> texts;
    for (int i = 0; i < launcher_option_count; ++i) {
        const LauncherOption &row = launcher_options[i];
        if (row.effect == LauncherEffect::refused)
            continue;
        OptionText text;
        const std::string typed = row.typed();
        for (const std::string &word : split_path_list(typed, " "))
            if (word.starts_with('-'))
                text.names.push_back(word.substr(0, word.find(',')));
        text.value = row.values;
        text.takes_next = !text.value.empty();
        text.help = row.help;
        texts.push_back(std::move(text));
    }
    return texts;
}

// With what the tables of CLI11 do not have.
std::vector<CommandText> completed(std::vector<CommandText> commands) {
    for (CommandText &command : commands)
        for (OptionText &option : command.options) {
            option.choices = choices_of(command.path, option.names.back());
            if (option.names.back() == "--one-world")
                command.of_launcher = launcher_texts();
        }
    return commands;
}

std::string replaced(std::string_view text, std::string_view characters, std::string_view before) {
    std::string result;
    for (const char c : text) {
        if (characters.find(c) != std::string_view::npos)
            result.append(before);
        result.push_back(c);
    }
    return result;
}

template <typename Visit>
void for_each_option(const CommandText &command, const Visit &visit) {
    for (const auto *const list : {&command.options, &command.of_launcher})
        for (const OptionText &option : *list)
            visit(option);
}

// All names, or those of options that have a value.
std::string names_of(const CommandText &command, bool with_value) {
    std::vector<std::string> names;
    for_each_option(command, [&](const OptionText &option) {
        if (!with_value || option.takes_next)
            names.insert(names.end(), option.names.begin(), option.names.end());
    });
    return fmt::format("{}", fmt::join(names, " "));
}

// Where the words of a command line come from: tables, and how far each shell has got in it.
constexpr const char *bash_head = R"(# bash completion of sennit, made by `sennit describe bash`.
_sennit() {
    local -A options valued inner choices
    local programs="" current=${COMP_WORDS[COMP_CWORD]} command="" option="" at word
)";
constexpr const char *bash_tail = R"(
    COMPREPLY=()
    for ((at = 1; at < COMP_CWORD; ++at)); do
        word=${COMP_WORDS[at]}
        if [[ -n $option && $word == "=" ]]; then
            continue # bash splits --name=value
        elif [[ -n $option ]]; then
            option=""
        elif [[ $word == -* ]]; then
            [[ " ${valued[${command:-run}]} " != *" $word "* && ${COMP_WORDS[at + 1]} != "=" ]] || option=$word
        elif [[ -n ${options[${command:+$command }$word]+known} ]]; then
            command=${command:+$command }$word
        elif [[ -z $command || " $programs " == *" $command "* ]]; then
            if declare -F _command_offset >/dev/null; then
                _command_offset "$at"
            else
                mapfile -t COMPREPLY < <(compgen -f -- "$current")
            fi
            return
        fi
    done
    [[ $current == "=" ]] && current=""
    if [[ -n $option ]]; then
        word=${choices[${command:-run} $option]}
        if [[ -n $word ]]; then
            mapfile -t COMPREPLY < <(compgen -W "$word" -- "$current")
        else
            mapfile -t COMPREPLY < <(compgen -f -- "$current")
        fi
    elif [[ $current == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "${options[${command:-run}]}" -- "$current")
    elif [[ -n ${inner[$command.]} ]]; then
        mapfile -t COMPREPLY < <(compgen -W "${inner[$command.]}" -- "$current")
        [[ -n $command ]] || mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$current")
    elif [[ " $programs " == *" $command "* && $current != */* ]]; then
        mapfile -t COMPREPLY < <(compgen -c -- "$current"; compgen -f -- "$current")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
    fi
}
complete -o filenames -F _sennit sennit
)";

void print_bash(const std::vector<CommandText> &commands) {
    fmt::print("{}", bash_head);
    std::string outer;
    std::string programs;
    for (const CommandText &command : commands) {
        fmt::print("    options[{0}]=\"{1}\" valued[{0}]=\"{2}\"\n",
                   command.is_inner() ? "\"" + command.path + "\"" : command.path,
                   names_of(command, false), names_of(command, true));
        if (!command.inner.empty())
            fmt::print("    inner[{}.]=\"{}\"\n", command.path, fmt::join(command.inner, " "));
        if (!command.is_inner())
            outer += (outer.empty() ? "" : " ") + command.path;
        if (command.takes_program)
            programs += (programs.empty() ? "" : " ") + command.path;
        for_each_option(command, [&](const OptionText &option) {
            if (!option.choices.empty())
                fmt::print("    choices[\"{} {}\"]=\"{}\"\n", command.path, option.names.back(),
                           fmt::join(option.choices, " "));
        });
    }
    fmt::print("    inner[.]=\"{}\" programs=\"{}\"\n{}", outer, programs, bash_tail);
}

// One word of zsh's, in quotes.
std::string zsh_word(const std::string &text) {
    std::string word;
    for (const char c : text)
        c == '\'' ? word.append("'\\''") : word.append(1, c);
    return "'" + word + "'";
}

void print_zsh(const std::vector<CommandText> &commands) {
    fmt::print("#compdef sennit\n# made by `sennit describe zsh`\n");
    for (const CommandText &command : commands) {
        fmt::print("_sennit_{}() {{\n    _arguments -A '-*'",
                   fmt::join(split_path_list(command.path, " "), "_"));
        for_each_option(command, [](const OptionText &option) {
            const std::string help = replaced(option.help, "[]\\:", "\\");
            std::string value;
            if (!option.value.empty())
                value = fmt::format(
                    "{}:{}:{}", option.takes_next ? "" : ":", replaced(option.value, ":", "\\"),
                    option.choices.empty() ? "_files"
                                           : fmt::format("({})", fmt::join(option.choices, " ")));
            const char *const joint = value.empty() ? "" : option.takes_next ? "=" : "=-";
            for (const std::string &name : option.names)
                fmt::print(" \\\n        {}",
                           zsh_word(fmt::format("{}{}[{}]{}", name,
                                                name.starts_with("--") ? joint : "", help, value)));
        });
        if (command.takes_program)
            fmt::print(" \\\n        '1:program:_sennit_program' '*::arguments:_normal'");
        else if (!command.inner.empty())
            fmt::print(" \\\n        '1:action:({})' '*::rest: _sennit_in {}'",
                       fmt::join(command.inner, " "), command.path);
        else
            fmt::print(" \\\n        '*:file:_files'");
        fmt::print("\n}}\n");
    }
    fmt::print(
        "_sennit_program() {{ _alternative 'commands:command:_command_names -e' "
        "'files:file:_files'; }}\n"
        "_sennit_in() {{ (( $+functions[_sennit_$1_$words[1]] )) && _sennit_$1_$words[1]; }}\n"
        "_sennit_command() {{\n    local -a commands=(\n");
    for (const CommandText &command : commands)
        if (!command.is_inner())
            fmt::print("        {}\n",
                       zsh_word(command.path + ":" + replaced(command.help, ":", "\\")));
    fmt::print(
        "    )\n    _describe command commands\n    _sennit_program\n}}\n"
        "_sennit() {{\n    local state\n"
        "    _arguments -C '1:command:_sennit_command' '*::rest:->rest'\n"
        "    [[ $state == rest ]] || return 0\n"
        "    if (( $+functions[_sennit_$words[1]] )); then _sennit_$words[1]; else _normal; fi\n"
        "}}\n_sennit \"$@\"\n");
}

std::string fish_word(const std::string &text) {
    return "'" + replaced(text, "'\\", "\\") + "'";
}

void print_fish(const std::vector<CommandText> &commands) {
    fmt::print("# made by `sennit describe fish`\n");
    for (const CommandText &command : commands) {
        const std::vector<std::string> words = split_path_list(command.path, " ");
        std::string inside;
        for (const std::string &word : words)
            inside += fmt::format("{}__fish_seen_subcommand_from {}",
                                  inside.empty() ? "" : "; and ", word);
        const std::string outside =
            words.size() == 1 ? "__fish_use_subcommand" : "__fish_seen_subcommand_from " + words[0];
        fmt::print("complete -c sennit -n {} -a {} -d {}\n", fish_word(outside), words.back(),
                   fish_word(command.help));
        for_each_option(command, [&](const OptionText &option) {
            fmt::print("complete -c sennit -n {}", fish_word(inside));
            for (const std::string &name : option.names)
                if (name.starts_with("--"))
                    fmt::print(" -l {}", name.substr(2));
                else
                    fmt::print(" -{} {}", name.size() == 2 ? "s" : "o", name.substr(1));
            if (option.takes_next)
                fmt::print(" -r");
            if (!option.choices.empty())
                fmt::print(" -f -a {}",
                           fish_word(fmt::format("{}", fmt::join(option.choices, " "))));
            fmt::print(" -d {}\n", fish_word(option.help));
        });
    }
}

struct Form {
    const char *name;
    void (*print)(const std::vector<CommandText> &commands);
};
constexpr Form forms[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};

} // namespace

int describe(const CLI::App &app, const std::string &name, const std::string &command) {
    const std::vector<CommandText> commands = completed(commands_of(app));
    if (name == "man") {
        print_man(commands, command);
        return 0;
    }
    const auto *const form = std::find_if(std::begin(forms), std::end(forms),
                                          [&](const Form &one) { return one.name == name; });
    if (form == std::end(forms))
        fail("'{}' is unknown: sennit describe bash, zsh, fish or man", name);
    if (!command.empty())
        fail("a command may be named for man alone: sennit describe man {}", command);
    form->print(commands);
    return 0;
}

} // namespace sennit::tool
