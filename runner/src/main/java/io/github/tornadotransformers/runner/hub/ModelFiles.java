package io.github.tornadotransformers.runner.hub;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.tornadotransformers.models.IoReason;
import io.github.tornadotransformers.models.Quoted;
import io.github.tornadotransformers.runner.console.Failure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SequencedSet;
import java.util.TreeSet;

/** Which files a checkpoint is made of, in the order in which they are fetched: the weights come last. */
final class ModelFiles {
    static final String CONFIG = "config.json";
    static final String TOKENIZER = "tokenizer.json";
    static final String INDEX = "model.safetensors.index.json";
    static final String WEIGHTS = "model.safetensors";

    /** GPT-2's own form of a tokenizer, for repositories without a {@code tokenizer.json}. */
    static final List<String> GPT2_TOKENIZER = List.of("vocab.json", "merges.txt");

    /** Files that a repository may lack. */
    static final List<String> OPTIONAL =
            List.of("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "generation_config.json");

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
     * The names of the weight files that an index speaks of.
     *
     * @throws Failure if it cannot be read, is not an index, or names a path instead of a file
     */
    static SequencedSet<String> shards(Path index) {
        TreeSet<String> shards = new TreeSet<>();
        try {
            JsonNode map = new ObjectMapper().readTree(index.toFile()).path("weight_map");
            for (JsonNode shard : map) {
                if (!shard.asText().matches("[A-Za-z0-9._-]+\\.safetensors")) {
                    throw Failure.of(index + " names " + Quoted.text(shard.asText())
                            + ", expected the name of a safetensors file");
                }
                shards.add(shard.asText());
            }
        } catch (JacksonException e) {
            throw Failure.of(index + " is not valid JSON: delete it, and it is fetched again", e);
        } catch (IOException e) {
            throw Failure.of(index + " cannot be read: " + IoReason.of(e), e);
        }
        if (shards.isEmpty()) {
            throw Failure.of(index + " has no \"weight_map\": delete it, and it is fetched again");
        }
        return shards;
    }
}
