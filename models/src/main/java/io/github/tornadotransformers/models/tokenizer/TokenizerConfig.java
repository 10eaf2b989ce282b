package io.github.tornadotransformers.models.tokenizer;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.Quoted;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/**
 * What the files beside {@code tokenizer.json} say, as far as it changes ids. All of it is either done or refused.
 *
 * @param declared tokens that those files add
 */
record TokenizerConfig(SpecialTokens special, DeclaredTokens declared, PrefixSpace prefixSpace) {
    /** Puts another pre-tokenizer in place of the one in {@code tokenizer.json}. */
    private static final String OTHER_PATTERN = "fix_mistral_regex";

    /** Nothing but special tokens. */
    static TokenizerConfig of(String source, SpecialTokens special) {
        return new TokenizerConfig(
                special,
                new DeclaredTokens(source, Map.of(), false),
                new PrefixSpace(source, "", Optional.empty(), true));
    }

    /** @throws CheckpointException if a file is broken, or asks for what is not implemented; a missing one says nothing */
    static TokenizerConfig read(Path folder) {
        Path file = folder.resolve(TokenizerFiles.CONFIG);
        Optional<ObjectNode> config = TokenizerFiles.readOptional(file);
        if (config.isPresent() && config.get().path(OTHER_PATTERN).asBoolean()) {
            throw new CheckpointException(
                    Quoted.path(file) + ": " + OTHER_PATTERN + " is true, which is not implemented");
        }
        SpecialTokens special = SpecialTokens.read(folder, config);
        return new TokenizerConfig(
                special, DeclaredTokens.read(folder, config, special.all()), PrefixSpace.read(folder, config));
    }
}
