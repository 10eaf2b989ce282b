package io.github.tornadotransformers.models.tokenizer;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.JsonNode;
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
 * <p>The library finds special tokens that are spelled in a text; here such a text is plain text. The edit therefore leaves
 * them out of {@code added_tokens}, so that the library does not know them: it encodes as if they did not exist, and is never
 * asked to decode them. (A special token that is in the model's own vocabulary stays there: where ordinary encoding leads to
 * it, it is the text's id.) The edit also puts in what the files beside it say, and switches off truncation, padding and
 * dropout, which are for training, and the post-processor, which would put an end token behind a prompt.
 *
 * <p>The text of a chat template is another matter: special tokens that it spells are special tokens. Another edit leaves them in.
 *
 * @param pieces by id; null where an id has none
 * @param specialIds ids of special tokens
 * @param front ids that the post-processor puts in front of a text
 * @param edited for the library
 */
record TokenizerJson(String[] pieces, Set<Integer> specialIds, int[] front, String edited) {
    /** How many ids may be without a piece: arrays are as long as the largest id. */
    private static final int MAX_UNUSED_IDS = 1 << 16;

    /** What a special token is that is spelled in a text. */
    enum Spelled {
        TEXT,
        TOKEN
    }

    /**
     * @param source what messages call the text
     * @param config what the files beside it say
     * @throws CheckpointException if the text is not what the format says, or contradicts those files
     */
    static TokenizerJson parse(String json, String source, TokenizerConfig config, Spelled spelled) {
        try (JsonParser parser = TokenizerFiles.JSON.createParser(json)) {
            TokenizerJsonReader reader = new TokenizerJsonReader(json, parser, source);
            reader.read();
            return of(json, reader, source, config, spelled);
        } catch (JacksonException e) {
            throw new CheckpointException(source + " is not valid JSON" + JsonFault.describe(e), e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static TokenizerJson of(
            String json, TokenizerJsonReader reader, String source, TokenizerConfig config, Spelled spelled) {
        List<Piece> vocab = reader.vocab();
        List<AddedToken> added = config.declared().joinedWith(reader.addedTokens(), source, vocab);
        Set<String> special = new HashSet<>(config.special().all());
        added.stream().filter(AddedToken::special).map(AddedToken::content).forEach(special::add);
        List<AddedToken> known = spelled == Spelled.TEXT
                ? added.stream()
                        .filter(token -> !special.contains(token.content()))
                        .toList()
                : withSpecial(added, special, vocab);

        Map<String, Integer> missing = new LinkedHashMap<>();
        added.forEach(token -> missing.put(token.content(), token.id()));
        vocab.forEach(piece -> missing.remove(piece.text()));
        List<Piece> pieces = new ArrayList<>(vocab);
        missing.forEach((text, id) -> pieces.add(new Piece(text, id)));
        if (spelled == Spelled.TEXT) {
            missing.keySet().removeAll(special);
        }

        List<Edit> edits = new ArrayList<>(reader.switchedOff());
        edits.add(reader.addedTokens(known.stream().map(AddedToken::json).collect(Collectors.joining(",", "[", "]"))));
        Map<String, JsonNode> stages = spelled == Spelled.TEXT
                ? config.prefixSpace().changed(reader.stages())
                : config.prefixSpace().changedForSpelled(reader.stages());
        stages.forEach((name, stage) -> edits.add(reader.stage(name, stage)));
        edits.add(reader.vocabStart().with(entries(missing, !vocab.isEmpty())));
        return new TokenizerJson(byId(pieces, source), ids(pieces, special), reader.front(), apply(edits, json));
    }

    /** With those that only the files beside it call special, as Hugging Face's loader adds them. */
    private static List<AddedToken> withSpecial(List<AddedToken> added, Set<String> special, List<Piece> vocab) {
        List<AddedToken> all = new ArrayList<>(added);
        Set<String> known = added.stream().map(AddedToken::content).collect(Collectors.toSet());
        vocab.stream()
                .filter(piece -> special.contains(piece.text()) && !known.contains(piece.text()))
                .forEach(piece -> all.add(AddedToken.special(piece.id(), piece.text())));
        return all;
    }

    private static Set<Integer> ids(List<Piece> pieces, Set<String> texts) {
        return pieces.stream()
                .filter(piece -> texts.contains(piece.text()))
                .map(Piece::id)
                .collect(Collectors.toUnmodifiableSet());
    }

    /** The library numbers added tokens by their order; those in the vocabulary keep the ids that they have. */
    private static String entries(Map<String, Integer> tokens, boolean othersFollow) {
        StringBuilder entries = new StringBuilder();
        tokens.forEach((text, id) -> {
            entries.append(entries.isEmpty() ? "" : ",").append(Gpt2Files.quoted(text));
            entries.append(':').append(id);
        });
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

    /** Text to put in place of {@code json[start .. end)}. */
    record Edit(int start, int end, String text) {
        Edit with(String other) {
            return new Edit(start, end, other);
        }
    }
}
