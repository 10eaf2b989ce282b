package io.github.tornadotransformers.models.tokenizer;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * A token beside the model's vocabulary, which the library looks for in a text before it cuts the rest into pieces.
 *
 * @param json the entry of {@code added_tokens} that says so
 */
record AddedToken(int id, String content, boolean special, String json) {
    static final String ID = "id";
    static final String CONTENT = "content";
    static final String SPECIAL = "special";
    static final String NORMALIZED = "normalized";
    /** How a text around the token matters: the library asks for each of these. */
    static final String[] FLAGS = {"single_word", "lstrip", "rstrip", NORMALIZED, SPECIAL};

    private static final JsonMapper JSON = new JsonMapper();

    /** @param flags any of {@link #FLAGS}; those that are missing are false */
    static AddedToken of(int id, String content, ObjectNode flags) {
        ObjectNode entry = JSON.createObjectNode().put(ID, id).put(CONTENT, content);
        for (String flag : FLAGS) {
            entry.put(flag, flags.path(flag).asBoolean());
        }
        return new AddedToken(id, content, entry.get(SPECIAL).booleanValue(), entry.toString());
    }

    /** A special token without flags. */
    static AddedToken special(int id, String content) {
        return of(id, content, JSON.createObjectNode().put(SPECIAL, true));
    }

    /** This token with another's flags; what is special for one is special. */
    AddedToken with(AddedToken other) {
        return new AddedToken(id, content, special || other.special, other.json);
    }
}
