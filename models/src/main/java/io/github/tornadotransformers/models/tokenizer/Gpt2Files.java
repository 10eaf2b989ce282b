package io.github.tornadotransformers.models.tokenizer;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.io.JsonStringEncoder;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.Quoted;
import io.github.tornadotransformers.models.checkpoint.JsonFault;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes GPT-2's {@code vocab.json} and {@code merges.txt} as the {@code tokenizer.json} that means the same: byte-level pair
 * encoding with GPT-2's way of cutting a text into words, and nothing added in front.
 */
final class Gpt2Files {
    static final String END_OF_TEXT = "<|endoftext|>";

    private static final String BYTE_LEVEL =
            "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"trim_offsets\":true,\"use_regex\":true}";

    private Gpt2Files() {}

    /** @throws CheckpointException naming the file that is missing or broken */
    static String toTokenizerJson(Path folder) {
        return "{\"version\":\"1.0\",\"truncation\":null,\"padding\":null,\"added_tokens\":[],\"normalizer\":null,\"pre_tokenizer\":"
                + BYTE_LEVEL
                + ",\"post_processor\":null,\"decoder\":" + BYTE_LEVEL
                + ",\"model\":{\"type\":\"BPE\",\"dropout\":null,\"unk_token\":null,\"vocab\":"
                + vocab(folder.resolve(TokenizerFiles.VOCAB))
                + ",\"merges\":[" + String.join(",", merges(folder.resolve(TokenizerFiles.MERGES))) + "]}}";
    }

    /** The file's text, which is JSON; what stands in it is read later. */
    private static String vocab(Path file) {
        String text = TokenizerFiles.readText(file);
        try (JsonParser parser = TokenizerFiles.JSON.createParser(text)) {
            if (parser.nextToken() != JsonToken.START_OBJECT) {
                throw new CheckpointException(Quoted.path(file) + " is not a JSON object");
            }
            parser.skipChildren();
            if (parser.nextToken() != null) {
                throw new CheckpointException(
                        Quoted.path(file) + " goes on behind its JSON object, with " + Quoted.text(parser.getText()));
            }
            return text;
        } catch (JacksonException e) {
            throw new CheckpointException(Quoted.path(file) + " is not valid JSON" + JsonFault.describe(e), e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static String quoted(String text) {
        return '"' + String.valueOf(JsonStringEncoder.getInstance().quoteAsString(text)) + '"';
    }

    /** Pairs of pieces, as JSON strings. A line that is empty, or the first and names the version, says nothing. */
    private static List<String> merges(Path file) {
        List<String> merges = new ArrayList<>();
        String[] lines = TokenizerFiles.readText(file).split("\r?\n", -1);
        for (int line = 0; line < lines.length; line++) {
            if (lines[line].isEmpty() || (line == 0 && lines[line].startsWith("#version"))) {
                continue;
            }
            int space = lines[line].indexOf(' ');
            if (space <= 0 || space == lines[line].length() - 1 || lines[line].indexOf(' ', space + 1) >= 0) {
                throw new CheckpointException(Quoted.path(file) + ", line " + (line + 1) + ", is "
                        + Quoted.text(lines[line]) + ", expected two pieces with a space between");
            }
            merges.add(quoted(lines[line]));
        }
        return merges;
    }
}
