package io.github.tornadotransformers.models.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.testsupport.Fuzzing;
import io.github.tornadotransformers.testsupport.JsonMutator;
import io.github.tornadotransformers.testsupport.TestTokenizers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Whatever a tokenizer's files hold: it encodes and decodes, or is refused in words. The library would end the process. */
class TokenizerFuzzTest {
    private static final JsonMapper JSON = new JsonMapper();
    private static final String[] CLASSES = {"GPT2Tokenizer", "LlamaTokenizer", "PreTrainedTokenizerFast", ""};
    private static final int MANY_IDS = 300;
    private static final String[] PIECES = {
        "hello",
        " ",
        "wor",
        "a",
        "\n",
        "é",
        "🦙",
        "<s>",
        "<|endoftext|>",
        "\0",
        "▁",
        "'s",
        "12345",
        "[U]",
        "\u0301",
        "あ",
        "\u200d"
    };

    @Test
    void aTokenizerOfOneFileWorksOrIsRefused() throws IOException {
        new Fuzzing("tokenizer", List.of(CheckpointException.class)).run(1000, (random, folder) -> {
            ObjectNode json = random.nextBoolean() ? TestTokenizers.byteLevelJson() : TestTokenizers.byteFallbackJson();
            vary(json, random);
            Files.writeString(
                    folder.resolve(TokenizerFiles.TOKENIZER),
                    random.nextInt(3) == 0 ? new JsonMutator(random, parts(random)).mutated(json) : json.toString());
            writeFilesBeside(folder, random);
            use(folder, random);
        });
    }

    @Test
    void aTokenizerOfTwoFilesWorksOrIsRefused() throws IOException {
        new Fuzzing("vocab-and-merges", List.of(CheckpointException.class)).run(300, (random, folder) -> {
            TestTokenizers.byteLevelAsVocabAndMerges(folder);
            Path vocab = folder.resolve(TokenizerFiles.VOCAB);
            JsonNode entries = JSON.readTree(vocab.toFile());
            if (random.nextBoolean()) {
                Files.writeString(vocab, new JsonMutator(random, List.of()).mutated(entries));
            }
            Path merges = folder.resolve(TokenizerFiles.MERGES);
            Files.writeString(merges, mutated(Files.readString(merges), random));
            writeFilesBeside(folder, random);
            use(folder, random);
        });
    }

    /** Other stages and fields, each right by itself. */
    private static void vary(ObjectNode json, SplittableRandom random) {
        RandomStages stages = new RandomStages(random);
        for (String field : List.of(Stages.NORMALIZER, Stages.PRE_TOKENIZER, Stages.DECODER)) {
            if (random.nextInt(3) == 0) {
                json.set(field, stages.stage(field));
            }
        }
        ObjectNode model = json.withObject("model");
        if (random.nextInt(3) == 0) {
            model.put("ignore_merges", random.nextBoolean())
                    .put("byte_fallback", random.nextBoolean())
                    .put("fuse_unk", random.nextBoolean());
        }
        if (random.nextInt(6) == 0) {
            model.put("end_of_word_suffix", any(random));
        }
        if (random.nextInt(12) == 0) {
            model.put("continuing_subword_prefix", any(random));
        }
        if (random.nextInt(6) == 0) {
            model.put("unk_token", any(random));
        }
        int next = model.withObject("vocab").size();
        for (int added = random.nextInt(4); added > 0; added--) {
            json.withArray("added_tokens").add(addedToken(random).put("id", next++));
        }
    }

    private static void writeFilesBeside(Path folder, SplittableRandom random) throws IOException {
        if (random.nextBoolean()) {
            return;
        }
        ObjectNode config = JSON.createObjectNode().put("tokenizer_class", CLASSES[random.nextInt(CLASSES.length)]);
        if (random.nextBoolean()) {
            config.put("add_prefix_space", random.nextBoolean()).put("add_bos_token", random.nextBoolean());
        }
        if (random.nextBoolean()) {
            config.putObject("added_tokens_decoder").set(nextId(random), addedToken(random));
        }
        config.put("eos_token", any(random))
                .putArray("additional_special_tokens")
                .add(any(random));
        String text =
                random.nextInt(3) == 0 ? new JsonMutator(random, parts(random)).mutated(config) : config.toString();
        Files.writeString(folder.resolve(TokenizerFiles.CONFIG), text);
        if (random.nextInt(3) == 0) {
            ObjectNode added = JSON.createObjectNode().put(any(random), Integer.parseInt(nextId(random)));
            Files.writeString(
                    folder.resolve(TokenizerFiles.ADDED_TOKENS), new JsonMutator(random, List.of()).mutated(added));
        }
    }

    /** The first that is free in one of the tokenizers, where nothing else was added. */
    private static String nextId(SplittableRandom random) {
        return String.valueOf(
                random.nextBoolean() ? TestTokenizers.BYTE_LEVEL_VOCAB_SIZE : TestTokenizers.BYTE_FALLBACK_VOCAB_SIZE);
    }

    private static List<JsonNode> parts(SplittableRandom random) {
        RandomStages stages = new RandomStages(random);
        return List.of(
                stages.stage(Stages.NORMALIZER),
                stages.stage(Stages.PRE_TOKENIZER),
                stages.stage(Stages.DECODER),
                addedToken(random));
    }

    private static ObjectNode addedToken(SplittableRandom random) {
        return JSON.createObjectNode()
                .put("content", any(random))
                .put("single_word", random.nextInt(4) == 0)
                .put("lstrip", random.nextInt(4) == 0)
                .put("rstrip", random.nextInt(4) == 0)
                .put("normalized", random.nextBoolean())
                .put("special", random.nextBoolean());
    }

    private static String mutated(String merges, SplittableRandom random) {
        List<String> lines = new ArrayList<>(merges.lines().toList());
        for (int changes = random.nextInt(3); changes > 0; changes--) {
            int line = random.nextInt(lines.size());
            switch (random.nextInt(4)) {
                case 0 -> lines.set(line, any(random) + " " + any(random));
                case 1 -> lines.add(line, lines.get(random.nextInt(lines.size())));
                case 2 -> lines.set(line, lines.get(line) + any(random));
                default -> lines.set(line, "");
            }
        }
        return String.join(random.nextBoolean() ? "\n" : "\r\n", lines);
    }

    /** Loads, encodes and decodes: a text's ids, every id by itself, and any ids one after the other. */
    private static void use(Path folder, SplittableRandom random) {
        Tokenizer tokenizer = Tokenizer.load(folder);
        StringBuilder text = new StringBuilder();
        for (int pieces = random.nextInt(8); pieces > 0; pieces--) {
            text.append(any(random));
        }
        int[] encoded = tokenizer.encodePrompt(text.toString());
        for (int id : encoded) {
            assertThat(id).as("an id of %s", text).isBetween(0, Math.max(0, tokenizer.maxId()));
        }
        tokenizer.decode(encoded);
        tokenizer.roundTripNotice(text.toString());
        for (int id = 0; id <= Math.min(tokenizer.maxId(), MANY_IDS); id++) {
            tokenizer.decode(new int[] {id});
        }
        int[] ids = random.ints(random.nextInt(20), -2, tokenizer.maxId() + 3).toArray();
        tokenizer.pieces(ids);
        tokenizer.decode(ids);
        StreamingDecoder decoder = tokenizer.decoder(encoded);
        for (int id : ids) {
            decoder.push(id);
        }
        decoder.finish();
    }

    private static String any(SplittableRandom random) {
        return PIECES[random.nextInt(PIECES.length)];
    }
}
