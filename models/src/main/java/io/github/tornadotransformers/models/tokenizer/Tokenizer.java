package io.github.tornadotransformers.models.tokenizer;

import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.Quoted;
import io.github.tornadotransformers.models.checkpoint.WholeFile;
import io.github.tornadotransformers.models.gguf.GgufFile;
import io.github.tornadotransformers.models.gguf.GgufMetadata;
import io.github.tornadotransformers.models.gguf.GgufTokens;
import io.github.tornadotransformers.models.tokenizer.TokenizerJson.Spelled;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Supplier;

/**
 * A checkpoint's tokenizer: Hugging Face's library on {@code tokenizer.json}, on GPT-2's {@code vocab.json} and
 * {@code merges.txt}, or on the vocabulary of a GGUF file. Special tokens that are spelled in a text are plain text. Safe for use by several threads.
 */
public final class Tokenizer {
    /** Llama 3's start token; its first {@code tokenizer.json} lacked the template that adds it, later ones have it. */
    private static final String LLAMA3_BOS = "<|begin_of_text|>";

    private static final int[] NONE = {};

    private final NativeTokenizer library;
    /** Knows special tokens where a text spells them; made when it is first asked. */
    private final Supplier<NativeTokenizer> withSpecial;

    private final SpecialTokens special;
    private final String[] pieces;
    private final Set<Integer> specialIds;
    private final int[] front;
    private final OptionalInt startToken;

    /** @param withSpecial for the library, with {@link Spelled#TOKEN} */
    private Tokenizer(TokenizerJson json, Supplier<String> withSpecial, SpecialTokens special, String source) {
        library = new NativeTokenizer(json.edited(), source);
        this.withSpecial = new Once<>(() -> new NativeTokenizer(withSpecial.get(), source));
        this.special = special;
        pieces = json.pieces();
        specialIds = json.specialIds();
        int[] template = json.front();
        OptionalInt bos = template.length > 0 ? OptionalInt.of(template[template.length - 1]) : id(special.bos());
        front = front(special, template, bos);
        startToken = bos.isPresent() ? bos : id(special.eos());
    }

    /** Whether the folder has a tokenizer's files, or the GGUF file a vocabulary, sound or not. */
    public static boolean existsIn(Path path) {
        return GgufFile.isGguf(path) ? GgufFile.open(path).metadata().has(GgufTokens.TOKENS) : hasFiles(path);
    }

    private static boolean hasFiles(Path folder) {
        return Files.exists(folder.resolve(TokenizerFiles.TOKENIZER))
                || (Files.exists(folder.resolve(TokenizerFiles.VOCAB))
                        && Files.exists(folder.resolve(TokenizerFiles.MERGES)));
    }

    /** The tokenizer of a folder or a GGUF file; empty if {@link #existsIn} says there is none. */
    public static Optional<Tokenizer> loadIfPresent(Path path) {
        return existsIn(path) ? Optional.of(load(path)) : Optional.empty();
    }

    /**
     * The tokenizer of a folder or a GGUF file.
     *
     * @throws CheckpointException with one line for the user, if a file is missing or broken
     */
    public static Tokenizer load(Path path) {
        return GgufFile.isGguf(path) ? ofGguf(path) : ofFolder(path);
    }

    private static Tokenizer ofGguf(Path file) {
        GgufMetadata metadata = GgufFile.open(file).metadata();
        TokenizerConfig config = TokenizerConfig.of(Quoted.path(file), GgufTokenizer.special(metadata));
        return of(() -> GgufTokenizer.toTokenizerJson(metadata), config, Quoted.path(file));
    }

    private static Tokenizer of(Supplier<String> json, TokenizerConfig config, String source) {
        return new Tokenizer(
                TokenizerJson.parse(json.get(), source, config, Spelled.TEXT),
                () -> TokenizerJson.parse(json.get(), source, config, Spelled.TOKEN)
                        .edited(),
                config.special(),
                source);
    }

    private static Tokenizer ofFolder(Path folder) {
        if (!hasFiles(folder)) {
            throw new CheckpointException(Quoted.path(folder) + " has no tokenizer: expected "
                    + TokenizerFiles.TOKENIZER + ", or " + TokenizerFiles.VOCAB + " and " + TokenizerFiles.MERGES);
        }
        Path file = folder.resolve(TokenizerFiles.TOKENIZER);
        boolean single = Files.exists(file);
        String source = single
                ? Quoted.path(file)
                : Quoted.path(folder.resolve(TokenizerFiles.VOCAB)) + " with " + TokenizerFiles.MERGES;
        return of(
                () -> single ? TokenizerFiles.readText(file) : Gpt2Files.toTokenizerJson(folder),
                TokenizerConfig.read(folder),
                source);
    }

    /**
     * Copies the files of a folder's tokenizer, those that are there, to another folder.
     *
     * @throws IOException if one cannot be read or written
     */
    public static void copyFiles(Path from, Path to) throws IOException {
        for (String name : TokenizerFiles.ALL) {
            Path file = from.resolve(name);
            if (Files.exists(file)) {
                WholeFile.write(to.resolve(name), Files.readAllBytes(file));
            }
        }
    }

    /** The ids of the text alone. */
    public int[] encode(String text) {
        return library.encode(wellFormed(text));
    }

    /** The ids of a text, such as a chat template's, in which special tokens that are spelled are those. */
    public int[] encodeWithSpecialTokens(String text) {
        return withSpecial.get().encode(wellFormed(text));
    }

    /** The texts of the special tokens that files beside the tokenizer name, by their names: {@code bos_token}, {@code eos_token} and others. */
    public Map<String, String> namedSpecialTokens() {
        return special.named();
    }

    /** As {@link #encode}, with what the model's own tokenizer adds in front, never with an end token behind. */
    public int[] encodePrompt(String text) {
        int[] ids = encode(text);
        int[] prompt = Arrays.copyOf(front, front.length + ids.length);
        System.arraycopy(ids, 0, prompt, front.length, ids.length);
        return prompt;
    }

    /** The text without special tokens. An id that has no piece has no text. */
    public String decode(int[] ids) {
        int[] plain = Arrays.stream(ids).filter(id -> !isSpecial(id)).toArray();
        return library.decode(plain, plain.length);
    }

    /** The pieces as the vocabulary spells them; empty for an id that has none. */
    public List<String> pieces(int[] ids) {
        return Arrays.stream(ids).mapToObj(this::piece).toList();
    }

    /** How many pieces there are, special tokens included. */
    public int vocabSize() {
        return (int) Arrays.stream(pieces).filter(piece -> piece != null).count();
    }

    /** The largest id that has a piece; a model can only use a tokenizer whose ids are below its {@code vocab_size}. */
    public int maxId() {
        return pieces.length - 1;
    }

    /** What an empty prompt starts from: the start token, else the end token, as is the custom with GPT-2. */
    public OptionalInt startToken() {
        return startToken;
    }

    public boolean isSpecial(int id) {
        return specialIds.contains(id);
    }

    /** The texts of all special tokens. */
    public Set<String> specialTexts() {
        Set<String> texts = new HashSet<>(special.all());
        specialIds.forEach(id -> texts.add(piece(id)));
        texts.remove("");
        return texts;
    }

    /** How a special token is spelled; empty for an id that is none. */
    public String specialText(int id) {
        return isSpecial(id) ? piece(id) : "";
    }

    /** The id of a piece as the vocabulary spells it; special tokens are pieces. */
    public OptionalInt id(String piece) {
        int id = Arrays.asList(pieces).indexOf(piece);
        return id < 0 ? OptionalInt.empty() : OptionalInt.of(id);
    }

    /** A notice for the user if the text does not come back from its ids as it was; some tokenizers normalize. */
    public Optional<String> roundTripNotice(String text) {
        String back = decode(encode(text));
        if (back.equals(text)) {
            return Optional.empty();
        }
        int at = Arrays.mismatch(text.toCharArray(), back.toCharArray());
        return Optional.of("the tokenizer changes the text at character " + at + ": " + Quoted.text(excerpt(text, at))
                + " comes back as " + Quoted.text(excerpt(back, at)));
    }

    /** Decodes ids as they come. */
    public StreamingDecoder decoder() {
        return new StreamingDecoder(this, NONE);
    }

    /** Decodes ids that continue {@code before}, whose text is not shown again. */
    public StreamingDecoder decoder(int[] before) {
        return new StreamingDecoder(this, before);
    }

    /** The text of {@code ids[0 .. count)}, which are not special. */
    String decodePlain(int[] ids, int count) {
        return library.decode(ids, count);
    }

    boolean hasPiece(int id) {
        return id >= 0 && id < pieces.length && pieces[id] != null;
    }

    /** Empty for an id that has none. */
    String piece(int id) {
        return hasPiece(id) ? pieces[id] : "";
    }

    private OptionalInt id(Optional<String> piece) {
        return piece.isPresent() ? id(piece.get()) : OptionalInt.empty();
    }

    private static int[] front(SpecialTokens special, int[] template, OptionalInt bos) {
        boolean adds =
                special.addsBos().orElse(template.length > 0 || special.bos().equals(Optional.of(LLAMA3_BOS)));
        if (!adds) {
            return NONE;
        }
        return template.length > 0 || bos.isEmpty() ? template : new int[] {bos.getAsInt()};
    }

    /** The library takes UTF-8, which has no unpaired surrogates. */
    private static String wellFormed(String text) {
        StringBuilder replaced = null;
        for (int i = 0; i < text.length(); i += Character.charCount(text.codePointAt(i))) {
            if (Character.getType(text.codePointAt(i)) == Character.SURROGATE) {
                replaced = replaced == null ? new StringBuilder(text) : replaced;
                replaced.setCharAt(i, StreamingDecoder.REPLACEMENT);
            }
        }
        return replaced == null ? text : replaced.toString();
    }

    private static String excerpt(String text, int from) {
        int end = Math.min(text.length(), from + 20);
        return text.substring(Math.min(from, end), end);
    }
}
