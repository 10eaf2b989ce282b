package io.github.tornadotransformers.server;

import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.Quoted;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.List;
import org.eclipse.jetty.util.ssl.SslContextFactory;

/** A certificate chain and its key, as PEM files have them. */
final class PemFiles {
    private static final List<String> ALGORITHMS = List.of("EC", "RSA", "EdDSA");
    private static final char[] NO_PASSWORD = {};

    private PemFiles() {}

    /** @throws InvalidRequest if a file cannot be read, or is not what it should be */
    static SslContextFactory.Server contextFactory(ServerSettings.Tls tls) {
        SslContextFactory.Server factory = new SslContextFactory.Server();
        try {
            KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(null, NO_PASSWORD);
            store.setKeyEntry("server", key(tls.key()), NO_PASSWORD, certificates(tls.certificates()));
            factory.setKeyStore(store);
            factory.setKeyStorePassword("");
            factory.setKeyManagerPassword("");
            return factory;
        } catch (IOException | GeneralSecurityException e) {
            throw new InvalidRequest("the certificate and its key cannot be used: " + e.getMessage());
        }
    }

    private static Certificate[] certificates(Path file) {
        try (InputStream stream = Files.newInputStream(file)) {
            Certificate[] chain = CertificateFactory.getInstance("X.509")
                    .generateCertificates(stream)
                    .toArray(new Certificate[0]);
            if (chain.length == 0) {
                throw new InvalidRequest(Quoted.path(file) + " has no certificate");
            }
            return chain;
        } catch (IOException | GeneralSecurityException e) {
            throw new InvalidRequest(Quoted.path(file) + " has no certificates in PEM: " + e.getMessage());
        }
    }

    private static PrivateKey key(Path file) {
        String text;
        try {
            text = Files.readString(file);
        } catch (IOException e) {
            throw new InvalidRequest(Quoted.path(file) + " cannot be read: " + e.getMessage());
        }
        String begin = "-----BEGIN PRIVATE KEY-----";
        int from = text.indexOf(begin);
        int to = text.indexOf("-----END", Math.max(0, from));
        if (from < 0 || to < 0) {
            throw new InvalidRequest(Quoted.path(file) + " has no PRIVATE KEY in PEM (PKCS #8, without a password)");
        }
        byte[] bytes = Base64.getMimeDecoder().decode(text.substring(from + begin.length(), to));
        for (String algorithm : ALGORITHMS) {
            try {
                return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(bytes));
            } catch (GeneralSecurityException _) {
                // Of another algorithm.
            }
        }
        throw new InvalidRequest(Quoted.path(file) + " has a key that is neither EC, RSA nor EdDSA");
    }
}
