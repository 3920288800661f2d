// SPDX-License-Identifier: Apache-2.0
#include "common/shell_text.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace sennit::tool {
namespace {

constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
constexpr std::string_view name_letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
                                          "0123456789";

// A command follows them.
constexpr std::string_view before_commands[] = {
    "if",   "then", "else", "elif",  "do", "while",   "until", "!",    "{",      "}",
    "time", "exec", "eval", "nohup", "fi", "command", "done",  "esac", "builtin"};
// No command follows them in the same command.
constexpr std::string_view before_names[] = {"for", "case", "select", "function", "[["};

template <std::size_t size>
bool is_in(const std::string_view (&list)[size], std::string_view word) {
    return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

std::size_t name_size(std::string_view text) {
    if (text.empty() || letters.find(text[0]) == std::string_view::npos)
        return 0;
    return std::min(text.find_first_not_of(name_letters), text.size());
}

class Reader {
  public:
    explicit Reader(std::string_view text) : text_(text) {}

    std::vector<ShellCommand> run() {
        while (at_ < text_.size())
            step();
        end_command();
        for (ShellCommand &command : commands_)
            command.function = functions_.contains(command.words[0]);
        return std::move(commands_);
    }

  private:
    void step() {
        const char c = text_[at_];
        if (!in_word_ && c == '#') {
            at_ = std::min(text_.find('\n', at_), text_.size());
            return;
        }
        ++at_;
        switch (c) {
        case '\\':
            escaped();
            break;
        case '\'':
            quoted();
            break;
        case '"':
            in_quotes_ = !in_quotes_;
            in_word_ = true;
            break;
        case '$':
            variable();
            break;
        case '`':
            end_command();
            break;
        default:
            if (in_quotes_)
                add(c);
            else
                outside_quotes(c);
        }
    }

    void outside_quotes(char c) {
        switch (c) {
        case ' ':
        case '\t':
        case '\r':
            end_word();
            break;
        case '\n':
            end_command();
            skip_documents();
            break;
        case '<':
        case '>':
            redirection(c);
            break;
        case '&':
        case '|':
        case ';':
            end_command();
            break;
        case '(':
            if (in_word_ && words_.empty()) { // a function is defined
                functions_.insert(word_);
                drop_command();
            }
            end_command();
            ++open_;
            break;
        case ')':
            if (open_ == 0) // a pattern of `case`
                drop_command();
            end_command();
            open_ -= open_ > 0;
            break;
        default:
            add(c);
        }
    }

    void add(char c) {
        word_ += c;
        in_word_ = true;
    }

    void escaped() {
        if (at_ == text_.size())
            return;
        const char c = text_[at_++];
        if (c == '\n')
            return;
        if (in_quotes_ && c != '"' && c != '\\' && c != '$' && c != '`')
            add('\\');
        add(c);
    }

    void quoted() {
        if (in_quotes_) {
            add('\'');
            return;
        }
        const std::size_t end = std::min(text_.find('\'', at_), text_.size());
        word_ += text_.substr(at_, end - at_);
        in_word_ = true;
        at_ = std::min(end + 1, text_.size());
    }

    // A variable that the text has set stands for its value, another one for itself.
    void variable() {
        if (at_ < text_.size() && text_[at_] == '(' && !in_quotes_)
            return; // what is in the brackets is a command like others
        const bool braces = at_ < text_.size() && text_[at_] == '{';
        const std::size_t begin = at_ + (braces ? 1 : 0);
        const std::size_t size = name_size(text_.substr(std::min(begin, text_.size())));
        const std::size_t end = begin + size + (braces ? 1 : 0);
        const auto value = variables_.find(text_.substr(begin, size));
        if (size == 0 || end > text_.size() || (braces && text_[end - 1] != '}') ||
            value == variables_.end()) {
            add('$');
            return;
        }
        at_ = end;
        in_word_ = true;
        for (const char c : value->second)
            if (!in_quotes_ && (c == ' ' || c == '\t' || c == '\n'))
                end_word();
            else
                add(c);
    }

    void redirection(char c) {
        if (c == '<' && text_.substr(at_).starts_with('<') &&
            !text_.substr(at_).starts_with("<<")) {
            ++at_;
            at_ += at_ < text_.size() && text_[at_] == '-';
            end_word();
            kind_of_next_ = Next::document;
            return;
        }
        end_word();
        while (at_ < text_.size() &&
               (text_[at_] == '<' || text_[at_] == '>' || text_[at_] == '&' || text_[at_] == '|'))
            ++at_;
        kind_of_next_ = Next::file;
    }

    void end_word() {
        if (!in_word_)
            return;
        std::string word = std::move(word_);
        word_.clear();
        in_word_ = false;
        const Next kind = std::exchange(kind_of_next_, Next::word);
        if (kind == Next::document) {
            documents_.push_back(std::move(word));
            return;
        }
        if (kind == Next::file)
            return;
        if (word.find("$(") != std::string::npos) // in quotes
            for (ShellCommand &command : read_shell_text(word))
                commands_.push_back(std::move(command));
        const bool assignment = is_assignment(word);
        if (assignment)
            set(word);
        if (words_.empty() && (assignment || is_in(before_commands, word)))
            return;
        words_.push_back(std::move(word));
    }

    void set(const std::string &assignment) {
        const std::size_t equals = assignment.find('=');
        variables_[assignment.substr(0, equals)] = assignment.substr(equals + 1);
    }

    void end_command() {
        end_word();
        kind_of_next_ = Next::word;
        if (!words_.empty() && words_[0] == "[[" && words_.back() != "]]")
            return;
        if (!words_.empty() && !is_in(before_names, words_[0]))
            commands_.push_back({std::move(words_), line()});
        words_.clear();
    }

    void drop_command() {
        word_.clear();
        in_word_ = false;
        words_.clear();
    }

    std::string line() const {
        const std::size_t last = std::max<std::size_t>(at_, 1) - 1;
        const std::size_t before = last == 0 ? std::string_view::npos : text_.rfind('\n', last - 1);
        const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
        const std::size_t end = std::min(text_.find('\n', last), text_.size());
        std::string_view found = text_.substr(begin, end - begin);
        found.remove_prefix(std::min(found.find_first_not_of(" \t"), found.size()));
        return std::string(found);
    }

    void skip_documents() {
        for (const std::string &delimiter : std::exchange(documents_, {}))
            while (at_ < text_.size()) {
                const std::size_t end = std::min(text_.find('\n', at_), text_.size());
                std::string_view found = text_.substr(at_, end - at_);
                found.remove_prefix(std::min(found.find_first_not_of('\t'), found.size()));
                at_ = std::min(end + 1, text_.size());
                if (found == delimiter)
                    break;
            }
    }

    enum class Next { word, file, document }; // what the next word is

    const std::string_view text_;
    std::size_t at_ = 0;
    std::string word_;
    bool in_word_ = false;
    bool in_quotes_ = false; // double ones
    int open_ = 0;           // brackets
    Next kind_of_next_ = Next::word;
    std::vector<std::string> words_;
    std::vector<std::string> documents_; // ends of here-documents that begin with the next line
    std::map<std::string, std::string, std::less<>> variables_;
    std::set<std::string> functions_;
    std::vector<ShellCommand> commands_;
};

} // namespace

std::vector<ShellCommand> read_shell_text(std::string_view text) {
    return Reader(text).run();
}

bool is_assignment(std::string_view word) {
    const std::size_t size = name_size(word);
    return size > 0 && size < word.size() && word[size] == '=';
}

} // namespace sennit::tool
