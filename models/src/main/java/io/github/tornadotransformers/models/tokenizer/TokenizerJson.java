package io.github.tornadotransformers.models.tokenizer;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What this project reads itself of a {@code tokenizer.json}, and the edited text that Hugging Face's library gets.
 *
 * <p>The library finds special tokens that are spelled in a text; here such a text is plain text. The edit therefore takes
 * them from {@code added_tokens}, which is searched for in texts, and puts them into the model's vocabulary, where no merge
 * leads to them and decoding still finds them. It also switches off truncation, padding and dropout, which are for training.
 *
 * @param pieces by id; null where an id has none
 * @param specialIds ids of special tokens
 * @param edited for the library
 */
@SuppressWarnings("ArrayRecordComponent")
record TokenizerJson(String[] pieces, Set<Integer> specialIds, String edited) {
    /** How many ids may be without a piece: arrays are as long as the largest id. */
    private static final int MAX_UNUSED_IDS = 1 << 16;

    /**
     * @param source what messages call the text
     * @throws TokenizerException if the text is not what the format says
     */
    static TokenizerJson parse(String json, String source) {
        try (JsonParser parser = TokenizerFiles.JSON.createParser(json)) {
            TokenizerJsonReader reader = new TokenizerJsonReader(json, parser, source);
            reader.read();
            return of(json, reader, source);
        } catch (JsonProcessingException e) {
            throw TokenizerFiles.notJson(source, e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static TokenizerJson of(String json, TokenizerJsonReader reader, String source) {
        List<Piece> pieces = reader.vocab();
        int vocabSize = pieces.size();
        Map<String, Integer> idsOfAdded = new HashMap<>();
        reader.addedTokens().forEach(token -> idsOfAdded.put(token.content(), token.id()));
        Map<String, Integer> missing = new HashMap<>(idsOfAdded);
        for (Piece piece : pieces) {
            if (missing.remove(piece.text()) != null) {
                idsOfAdded.put(piece.text(), piece.id());
            }
        }
        missing.forEach((text, id) -> pieces.add(new Piece(text, id)));
        Set<Integer> specialIds = new HashSet<>();
        List<String> searched = new ArrayList<>();
        for (AddedToken token : reader.addedTokens()) {
            if (token.special()) {
                specialIds.add(idsOfAdded.get(token.content()));
            } else {
                searched.add(token.json());
            }
        }
        List<Edit> edits = new ArrayList<>(reader.switchedOff());
        edits.add(reader.addedTokensField().with("[" + String.join(",", searched) + "]"));
        edits.add(reader.vocabStart().with(entries(pieces.subList(vocabSize, pieces.size()), vocabSize > 0)));
        return new TokenizerJson(byId(pieces, source), Set.copyOf(specialIds), apply(edits, json));
    }

    private static String entries(List<Piece> pieces, boolean othersFollow) {
        StringBuilder entries = new StringBuilder();
        for (Piece piece : pieces) {
            entries.append(entries.isEmpty() ? "" : ",").append(Gpt2Files.quoted(piece.text()));
            entries.append(':').append(piece.id());
        }
        return othersFollow && !entries.isEmpty() ? entries.append(',').toString() : entries.toString();
    }

    private static String[] byId(List<Piece> pieces, String source) {
        int largest = pieces.stream().mapToInt(Piece::id).max().orElse(-1);
        if (largest - pieces.size() >= MAX_UNUSED_IDS) {
            throw new TokenizerException(source + " has " + pieces.size() + " pieces and id " + largest
                    + ", expected ids without such gaps");
        }
        String[] byId = new String[largest + 1];
        for (Piece piece : pieces) {
            if (byId[piece.id()] != null) {
                throw new TokenizerException(source + " gives id " + piece.id() + " to \"" + byId[piece.id()]
                        + "\" and to \"" + piece.text() + "\"");
            }
            byId[piece.id()] = piece.text();
        }
        return byId;
    }

    private static String apply(List<Edit> edits, String json) {
        edits.sort(Comparator.comparingInt(Edit::start));
        StringBuilder edited = new StringBuilder(json.length() + 1024);
        int copied = 0;
        for (Edit edit : edits) {
            edited.append(json, copied, edit.start()).append(edit.text());
            copied = edit.end();
        }
        return edited.append(json, copied, json.length()).toString();
    }

    /** An entry of the model's vocabulary. */
    record Piece(String text, int id) {}

    /** @param json the entry as it stands in the file */
    record AddedToken(int id, String content, boolean special, String json) {}

    /** Text to put in place of {@code json[start .. end)}. */
    record Edit(int start, int end, String text) {
        Edit with(String other) {
            return new Edit(start, end, other);
        }
    }
}
