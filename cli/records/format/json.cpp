/* json.cpp - simdjson behind one C function.
 *
 * simdjson finds quotes, brackets and bad UTF-8 in 64 bytes at once, and then walks over them (its
 * "On Demand" interface).  It only checks the parts that it is asked for.  We ask for all parts,
 * because whether a line is JSON must not depend on the keys.  json.c reads the values, because a
 * key is its text: a number of 40 digits stays as it is. */
#include "records/format/json.h"

#include <cstring>
#include <simdjson.h>

namespace od = simdjson::ondemand;

static_assert(READ_SLACK >= simdjson::SIMDJSON_PADDING, "lines are parsed where they stand");

namespace {

struct search {
    const json_node *node;
    const int32_t *slot_of;
    slice *slot;
    bool escapes;
};

/* True on success.  The kinds of simdjson's errors do not matter here. */
template <class From, class To> bool get(From &&from, To &to) {
    return std::forward<From>(from).get(to) == simdjson::SUCCESS;
}

size_t without_space(const char *p, size_t n) {
    while (n > 0 && (p[n - 1] == ' ' || p[n - 1] == '\n' || p[n - 1] == '\r' || p[n - 1] == '\t'))
        n--;
    return n;
}

/* -- which node is meant ------------------------------------------------------------------- */

size_t key_length(const char *p) {
    size_t n = 0;
    for (; p[n] != '"'; n++) n += p[n] == '\\';
    return n;
}

/* Is a key without escapes this node's name?  `key` is behind its opening quote.  Its first eight
 * bytes can always be read, and they decide for names of up to seven bytes. */
bool says(const char *key, const json_node &node) {
    uint64_t word;
    memcpy(&word, key, sizeof word);
    if ((word & node.mask) != node.begin) return false;
    return node.len < 8 || (key_length(key) == node.len && !memcmp(key, node.name, node.len));
}

bool says_escaped(const char *key, size_t len, const json_node &node) {
    char value[6 * JSON_MAX_NAME]; /* an escape is six bytes at most, and says one at least */
    return len <= sizeof value && json_unescape(key, len, value) == node.len &&
           !memcmp(value, node.name, node.len);
}

/* Finds the node that a key leads to, or NULL.  False: the key is malformed. */
bool member(const search &s, const json_node *of, const char *key, const json_node **child) {
    size_t len = s.escapes ? key_length(key) : 0;
    bool escaped = len > 0 && memchr(key, '\\', len);
    *child = nullptr;
    if (escaped && json_unescape(key, len, nullptr) < 0) return false;
    if (!of) return true;
    for (int32_t i = of->child; i != JSON_NONE; i = s.node[i].next)
        if (escaped ? says_escaped(key, len, s.node[i]) : says(key, s.node[i])) {
            *child = &s.node[i];
            break;
        }
    return true;
}

const json_node *element(const search &s, const json_node *of, int32_t at) {
    for (int32_t i = of->child; i != JSON_NONE; i = s.node[i].next)
        if (s.node[i].element == at) return &s.node[i];
    return nullptr;
}

/* Drops the values of an earlier member of the same name. */
void forget(const search &s, const json_node *node) {
    if (node->column != JSON_NONE) s.slot[s.slot_of[node->column]].at = nullptr;
    for (int32_t i = node->child; i != JSON_NONE; i = s.node[i].next) forget(s, &s.node[i]);
}

void keep(const search &s, const json_node *node, const char *at, size_t len, writing how) {
    if (!node || node->column == JSON_NONE) return;
    s.slot[s.slot_of[node->column]] = {at, uint32_t(len), uint32_t(how)};
}

/* -- the walk ------------------------------------------------------------------------------ */

bool walk(const search &s, od::value &v, const json_node *node, int depth);

bool walk_members(const search &s, od::object &object, const json_node *node, int depth) {
    if (depth > JSON_MAX_DEPTH) return false;
    for (auto result : object) {
        if (result.error()) return false;
        od::field &&field = std::move(result).value_unsafe(); /* where it is: a copy stalls */
        const json_node *child;
        if (!member(s, node, field.key().raw(), &child)) return false;
        if (!walk(s, field.value(), child, depth + 1)) return false;
    }
    return true;
}

bool walk_elements(const search &s, od::array &array, const json_node *node, int depth) {
    if (depth > JSON_MAX_DEPTH) return false;
    int32_t at = 0;
    for (auto result : array) {
        if (result.error()) return false;
        od::value &&v = std::move(result).value_unsafe();
        if (!walk(s, v, node ? element(s, node, at++) : nullptr, depth + 1)) return false;
    }
    return true;
}

/* Keeps an object or array that is a value itself.  It was checked; this finds where it ends. */
template <class Nested> bool keep_nested(const search &s, Nested &nested, const json_node *node) {
    bool any;
    std::string_view text;
    if (!node || node->column == JSON_NONE) return true;
    if (!get(nested.reset(), any) || !get(nested.raw_json(), text)) return false;
    keep(s, node, text.data(), without_space(text.data(), text.size()), JSON_NESTED);
    return true;
}

bool walk_string(const search &s, const char *p, size_t len, const json_node *node) {
    if (len < 2 || p[len - 1] != '"') return false;
    bool escaped = s.escapes && memchr(p, '\\', len);
    if (escaped && json_unescape(p + 1, len - 2, nullptr) < 0) return false;
    keep(s, node, p + 1, len - 2, escaped ? JSON_STRING : AS_IT_IS);
    return true;
}

bool walk_scalar(const search &s, od::value &v, const json_node *node) {
    std::string_view token = v.raw_json_token();
    const char *p = token.data();
    size_t len = without_space(p, token.size());
    auto is = [&](const char *word) { return len == strlen(word) && !memcmp(p, word, len); };
    if (*p == '"') {
        od::raw_json_string consumed; /* else a colon behind it would be taken for a key's */
        return get(v.get_raw_json_string(), consumed) && walk_string(s, p, len, node);
    }
    if (is("null")) return true;
    if (!is("true") && !is("false") && !json_is_number(p, len)) return false;
    keep(s, node, p, len, AS_IT_IS);
    return true;
}

bool walk(const search &s, od::value &v, const json_node *node, int depth) {
    od::json_type type;
    if (node) forget(s, node);
    if (!get(v.type(), type)) return false;
    if (type == od::json_type::object) {
        od::object object;
        return get(v.get_object(), object) && walk_members(s, object, node, depth) &&
               keep_nested(s, object, node);
    }
    if (type == od::json_type::array) {
        od::array array;
        return get(v.get_array(), array) && walk_elements(s, array, node, depth) &&
               keep_nested(s, array, node);
    }
    return walk_scalar(s, v, node);
}

/* The text has to be an object or an array. */
bool walk_text(const search &s, od::document &text) {
    od::json_type type;
    if (!get(text.type(), type)) return false;
    if (type == od::json_type::object) {
        od::object object;
        if (!get(text.get_object(), object) || !walk_members(s, object, s.node, 1)) return false;
    } else if (type == od::json_type::array) {
        od::array array;
        if (!get(text.get_array(), array) || !walk_elements(s, array, s.node, 1)) return false;
    } else {
        return false;
    }
    return text.current_location().error() == simdjson::OUT_OF_BOUNDS; /* nothing follows */
}

} // namespace

bool json_built_in() { return true; }

json_found json_find(const char *text, size_t len, bool escapes, const json_paths *paths,
                     const int32_t *slot_of, slice *slot) {
    static thread_local od::parser parser;
    for (uint32_t i = 0; i < paths->columns; i++) slot[slot_of[i]].at = nullptr;
    if (len > parser.capacity()) { /* doubled, since each longer line would be a new allocation */
        size_t room = 1 << 16;
        while (room < len) room *= 2;
        if (parser.allocate(room, JSON_MAX_DEPTH)) return JSON_NO_MEMORY;
    }
    od::document document;
    if (!get(parser.iterate(text, len, len + READ_SLACK), document)) return JSON_INVALID;
    return walk_text({paths->node, slot_of, slot, escapes}, document) ? JSON_VALID : JSON_INVALID;
}
