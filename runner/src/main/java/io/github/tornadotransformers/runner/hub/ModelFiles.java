package io.github.tornadotransformers.runner.hub;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.Quoted;
import io.github.tornadotransformers.models.checkpoint.CheckpointFiles;
import io.github.tornadotransformers.runner.console.Failure;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import java.util.SequencedSet;
import java.util.TreeSet;
import java.util.regex.Pattern;

/** Which files a checkpoint is made of, in the order in which they are fetched: the weights come last. */
final class ModelFiles {
    static final String CONFIG = "config.json";
    static final String TOKENIZER = "tokenizer.json";
    static final String INDEX = "model.safetensors.index.json";
    static final String WEIGHTS = "model.safetensors";

    private static final String WEIGHTS_ENDING = ".safetensors";
    private static final String GGUF_ENDING = ".gguf";

    /** GPT-2's own form of a tokenizer, for repositories without a {@code tokenizer.json}. */
    static final List<String> GPT2_TOKENIZER = List.of("vocab.json", "merges.txt");

    /** Files that a repository may lack. */
    static final List<String> OPTIONAL = List.of(
            "tokenizer_config.json",
            "special_tokens_map.json",
            "added_tokens.json",
            "chat_template.jinja",
            "generation_config.json");

    private ModelFiles() {}

    /** Whether a folder has a config and all its weights. Files appear in it whole, so their presence is enough. */
    static boolean isComplete(Path folder) {
        if (!Files.isRegularFile(folder.resolve(CONFIG))) {
            return false;
        }
        Path index = folder.resolve(INDEX);
        return Files.isRegularFile(index)
                ? shards(index).stream().allMatch(shard -> Files.isRegularFile(folder.resolve(shard)))
                : Files.isRegularFile(folder.resolve(WEIGHTS));
    }

    static boolean hasTokenizer(Path folder) {
        return Files.isRegularFile(folder.resolve(TOKENIZER))
                || GPT2_TOKENIZER.stream().allMatch(name -> Files.isRegularFile(folder.resolve(name)));
    }

    /**
     * The names of the weight files that an index in a folder speaks of.
     *
     * @throws Failure if it cannot be read, is not an index, or names a path instead of a file
     */
    static SequencedSet<String> shards(Path index) {
        return shards(index, "delete it, and it is fetched again");
    }

    /** @param advice ends the message of a failure */
    static SequencedSet<String> shards(Path index, String advice) {
        TreeSet<String> shards = new TreeSet<>();
        for (JsonNode shard : weightMap(index, advice)) {
            if (!shard.isTextual() || !shard.textValue().matches("[A-Za-z0-9._-]+" + Pattern.quote(WEIGHTS_ENDING))) {
                throw Failure.of(index + " names " + Quoted.line(shard.toString())
                        + ", expected the name of a safetensors file: " + advice);
            }
            shards.add(shard.textValue());
        }
        if (shards.isEmpty()) {
            throw Failure.of(index + " has no \"weight_map\": " + advice);
        }
        return shards;
    }

    /** Bytes of the tensors in all files, as an index says; empty where it does not. */
    static OptionalLong totalBytes(Path index) {
        JsonNode total = CheckpointFiles.readJson(index).path("metadata").path("total_size");
        return total.canConvertToLong() && total.longValue() > 0
                ? OptionalLong.of(total.longValue())
                : OptionalLong.empty();
    }

    private static JsonNode weightMap(Path index, String advice) {
        try {
            return CheckpointFiles.readJson(index).path("weight_map");
        } catch (CheckpointException e) {
            throw Failure.of(e.getMessage() + ": " + advice, e);
        }
    }

    /** More bytes than a file of that name can have: all but the weights are small. */
    static long mostBytes(String file) {
        return file.endsWith(WEIGHTS_ENDING) || file.endsWith(GGUF_ENDING)
                ? Long.MAX_VALUE
                : CheckpointFiles.MAX_JSON_BYTES;
    }
}
