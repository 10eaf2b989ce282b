package io.github.tornadotransformers.models.tokenizer;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonParser;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.Quoted;
import io.github.tornadotransformers.models.checkpoint.JsonFault;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What this project reads itself of a {@code tokenizer.json}, and the edited text that Hugging Face's library gets.
 *
 * <p>The library finds special tokens that are spelled in a text; here such a text is plain text. The edit therefore takes
 * them from {@code added_tokens}, which is searched for in texts, and puts them into the model's vocabulary, where no merge
 * leads to them and decoding still finds them. It also switches off truncation, padding and dropout, which are for training,
 * and the post-processor, which would put an end token behind a prompt.
 *
 * @param pieces by id; null where an id has none
 * @param specialIds ids of special tokens
 * @param front ids that the post-processor puts in front of a text
 * @param edited for the library
 */
record TokenizerJson(String[] pieces, Set<Integer> specialIds, int[] front, String edited) {
    /** How many ids may be without a piece: arrays are as long as the largest id. */
    private static final int MAX_UNUSED_IDS = 1 << 16;

    /**
     * @param source what messages call the text
     * @param special texts of pieces that are special too, if there are such pieces
     * @throws CheckpointException if the text is not what the format says
     */
    static TokenizerJson parse(String json, String source, Set<String> special) {
        try (JsonParser parser = TokenizerFiles.JSON.createParser(json)) {
            TokenizerJsonReader reader = new TokenizerJsonReader(json, parser, source);
            reader.read();
            return of(json, reader, source, special);
        } catch (JacksonException e) {
            throw new CheckpointException(source + " is not valid JSON" + JsonFault.describe(e), e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static TokenizerJson of(String json, TokenizerJsonReader reader, String source, Set<String> special) {
        List<Piece> pieces = reader.vocab();
        int vocabSize = pieces.size();
        Map<String, Integer> missing = new LinkedHashMap<>();
        reader.addedTokens().forEach(token -> missing.put(token.content(), token.id()));
        Set<String> specialTexts = new HashSet<>(special);
        reader.addedTokens().stream()
                .filter(AddedToken::special)
                .map(AddedToken::content)
                .forEach(specialTexts::add);
        pieces.forEach(piece -> missing.remove(piece.text()));
        missing.forEach((text, id) -> pieces.add(new Piece(text, id)));

        List<Edit> edits = new ArrayList<>(reader.switchedOff());
        reader.addedTokensField()
                .map(field -> field.with(searchedInTexts(reader.addedTokens())))
                .ifPresent(edits::add);
        edits.add(reader.vocabStart().with(entries(pieces.subList(vocabSize, pieces.size()), vocabSize > 0)));
        return new TokenizerJson(byId(pieces, source), ids(pieces, specialTexts), reader.front(), apply(edits, json));
    }

    private static String searchedInTexts(List<AddedToken> tokens) {
        return tokens.stream()
                .filter(token -> !token.special())
                .map(AddedToken::json)
                .collect(Collectors.joining(",", "[", "]"));
    }

    private static Set<Integer> ids(List<Piece> pieces, Set<String> texts) {
        return pieces.stream()
                .filter(piece -> texts.contains(piece.text()))
                .map(Piece::id)
                .collect(Collectors.toUnmodifiableSet());
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
            throw new CheckpointException(source + " has " + pieces.size() + " pieces and id " + largest
                    + ", expected ids without such gaps");
        }
        String[] byId = new String[largest + 1];
        for (Piece piece : pieces) {
            if (byId[piece.id()] != null) {
                throw new CheckpointException(source + " gives id " + piece.id() + " to "
                        + Quoted.text(byId[piece.id()]) + " and to " + Quoted.text(piece.text()));
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
