// SPDX-License-Identifier: Apache-2.0
// A man page for each command, with its options, and sennit(1), which names the commands. A command
// in another one (pool start) is a section of that one's page.
#include "common/command_text.h"

#include "common/failure.h"

#include <CLI/CLI.hpp>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

namespace sennit::tool {
namespace {

OptionText text_of(const CLI::Option &option) {
    OptionText text;
    for (const std::string &name : option.get_snames())
        text.names.push_back("-" + name);
    for (const std::string &name : option.get_lnames())
        text.names.push_back("--" + name);
    if (option.get_items_expected_max() > 0)
        text.value = option.get_type_name();
    text.takes_next = option.get_items_expected_min() > 0;
    text.help = option.get_description();
    text.group = option.get_group();
    return text;
}

std::vector<const CLI::App *> commands_in(const CLI::App &app) {
    return app.get_subcommands([](const CLI::App *) { return true; });
}

void add_commands(const CLI::App &app, const std::string &prefix, std::vector<CommandText> &to) {
    for (const CLI::App *const command : commands_in(app)) {
        if (command->get_group().empty())
            continue;
        CommandText text;
        text.path = prefix + command->get_name();
        text.help = command->get_description();
        for (const CLI::Option *const option : command->get_options()) {
            if (option->get_group().empty())
                continue;
            if (option->get_positional())
                text.operands.push_back({option->get_single_name(), option->get_description(),
                                         option->get_items_expected_max() > 1});
            else
                text.options.push_back(text_of(*option));
        }
        for (const CLI::App *const inner : commands_in(*command))
            text.inner.push_back(inner->get_name());
        text.takes_program = command->get_option_no_throw("--mpi") != nullptr;
        to.push_back(text);
        add_commands(*command, text.path + " ", to);
    }
}

// In roff a backslash begins an escape, a dash is a minus, and a line must begin neither with a dot
// nor with a quote.
std::string roff(std::string_view text) {
    std::string result;
    if (text.starts_with('.') || text.starts_with('\''))
        result = "\\&";
    for (const char c : text) {
        if (c == '\\')
            result.append("\\e");
        else
            result.append(c == '-' ? "\\-" : std::string(1, c));
    }
    return result;
}

// What apropos shows: a command's help up to its example or its second sentence.
std::string_view title_of(std::string_view help) {
    return help.substr(0, std::min(help.find(": "), help.find("; ")));
}

void print_head(const std::string &page, std::string_view title) {
    std::string capitals = page;
    std::transform(capitals.begin(), capitals.end(), capitals.begin(),
                   [](unsigned char c) { return std::toupper(c); });
    fmt::print(".TH {} 1 \"\" \"Sennit {}\" \"Sennit\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n",
               roff(capitals), SENNIT_VERSION, roff(page), roff(title));
}

std::string operand_of(const OperandText &operand) {
    return fmt::format("\\fI{}\\fR{}", roff(operand.name), operand.several ? "..." : "");
}

void print_usage(const CommandText &command) {
    fmt::print(".B sennit {}\n", roff(command.path));
    if (!command.inner.empty()) {
        fmt::print("\\fIcommand\\fR [\\fIoptions\\fR]\n");
        return;
    }
    std::string words = command.options.empty() ? "" : "[\\fIoptions\\fR]";
    for (const OperandText &operand : command.operands)
        words += " " + operand_of(operand);
    if (command.takes_program)
        words += command.path == "python" ? " [\\fIarguments\\fR]"
                                          : " \\fIprogram\\fR [\\fIarguments\\fR]";
    fmt::print("{}\n", words);
}

void print_option(const OptionText &option) {
    fmt::print(".TP\n.BR \"{}\"", roff(fmt::format("{}", fmt::join(option.names, ", "))));
    if (!option.value.empty())
        fmt::print(" {}", option.takes_next ? fmt::format("\" \\fI{}\\fR\"", roff(option.value))
                                            : fmt::format("[=\\fI{}\\fR]", roff(option.value)));
    fmt::print("\n{}\n", option.help.empty() ? "\\&" : roff(option.help));
    if (!option.choices.empty())
        fmt::print("(values: {})\n", roff(fmt::format("{}", fmt::join(option.choices, ", "))));
}

// Options under the headings that --help has, which has them in this order.
void print_words(const CommandText &command, const char *heading) {
    for (const OperandText &operand : command.operands)
        fmt::print(".TP\n{}\n{}\n", operand_of(operand),
                   operand.help.empty() ? "\\&" : roff(operand.help));
    std::vector<std::string> groups;
    for (const OptionText &option : command.options)
        if (std::find(groups.begin(), groups.end(), option.group) == groups.end())
            groups.push_back(option.group);
    for (const std::string &group : groups) {
        if (groups.size() > 1)
            fmt::print("{} {}\n", heading, roff(group));
        for (const OptionText &option : command.options)
            if (option.group == group)
                print_option(option);
    }
}

// Its page has --help once.
CommandText without_help(CommandText command) {
    std::erase_if(command.options,
                  [](const OptionText &one) { return one.names.back().starts_with("--help"); });
    return command;
}

constexpr const char *exit_status =
    ".SH EXIT STATUS\n"
    "That of the program; 128 + S if signal S ended a rank or the job was interrupted by it; 2 if "
    "Sennit refuses to start it, and one line on stderr says why.\n";

void print_of_all(const std::vector<CommandText> &commands) {
    print_head("sennit", "runs unmodified MPI + OpenMP programs as one");
    fmt::print(".B sennit\n\\fIcommand\\fR [\\fIoptions\\fR] [\\fIprogram\\fR "
               "[\\fIarguments\\fR]]\n.SH COMMANDS\nEach has a page of its own.\n");
    std::string pages = ".BR sennit\\-options (7)";
    for (const CommandText &command : commands) {
        if (command.is_inner())
            continue;
        fmt::print(".TP\n.BR sennit\\-{} (1)\n{}\n", roff(command.path), roff(command.help));
        pages += fmt::format(",\n.BR sennit\\-{} (1)", roff(command.path));
    }
    fmt::print("{}.SH ENVIRONMENT\nThe variables are in\n.BR sennit\\-options (7).\n"
               ".SH SEE ALSO\n{}\n",
               exit_status, pages);
}

void print_of(const std::vector<CommandText> &commands, const CommandText &command) {
    print_head("sennit-" + command.path, title_of(command.help));
    print_usage(command);
    fmt::print(".SH DESCRIPTION\n{}\n", roff(command.help));
    if (!command.options.empty()) {
        fmt::print(".SH OPTIONS\n");
        print_words(command, ".SS");
    }
    for (const CommandText &inner : commands) {
        if (!inner.path.starts_with(command.path + " "))
            continue;
        fmt::print(".SH {}\n", roff(inner.path));
        print_usage(inner);
        fmt::print(".PP\n{}\n", roff(inner.help));
        print_words(without_help(inner), ".SS");
    }
    if (!command.of_launcher.empty()) {
        fmt::print(".SH OPTIONS OF MPIEXEC\nHanded on to that of the program's MPI, by the name "
                   "that they have there:\n.BR sennit\\-options (7).\n");
        for (const OptionText &option : command.of_launcher)
            print_option(option);
    }
    fmt::print("{}.SH SEE ALSO\n.BR sennit (1),\n.BR sennit\\-options (7)\n",
               command.takes_program ? exit_status : "");
}

} // namespace

std::vector<CommandText> commands_of(const CLI::App &app) {
    std::vector<CommandText> commands;
    add_commands(app, "", commands);
    return commands;
}

void print_man(const std::vector<CommandText> &commands, const std::string &command) {
    if (command.empty())
        return print_of_all(commands);
    const auto found = std::find_if(commands.begin(), commands.end(), [&](const CommandText &one) {
        return one.path == command && !one.is_inner();
    });
    if (found == commands.end())
        fail("'{}' is no command: sennit help lists them", command);
    print_of(commands, *found);
}

} // namespace sennit::tool
