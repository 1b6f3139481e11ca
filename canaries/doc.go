// Package canaries makes decoy secrets of the true shape, says where to plant
// them, and finds them again in any bytes.
//
// A Set is a decoy HOME of an ordinary developer, and the environment that
// goes with it. Every value is drawn from the caller's source of randomness,
// so that it exists nowhere else in the world: wherever it turns up, it came
// from the Set.
//
// What a client sends is judged too: in the credential's place of a request to
// its issuer a canary is used, anywhere else it has left.
//
// # Encodings
//
// What is written once in a common way is found by a linear search (Wu and Manber) for the
// texts that a secret is in each encoding. All else is decoded: a dive looks for what may be
// an encoding, undoes it, and looks into the result again, up to four layers deep. It undoes
//
//   - digits of base 16, 32, 58, 64 and 85 (Ascii85, Z85, RFC 1924), also in wrapped lines;
//   - bits and character codes in base 8, 10 and 16, with or without separators;
//   - characters with the same text between them, and parts of one length with anything short between them;
//   - UTF-16, UTF-32, and bytes that were each written as a character of UTF-8;
//   - escapes of URLs, HTML, JSON, quoted-printable and C;
//   - gzip, zlib and deflate below another layer (FindBody looks for them at the top);
//   - one byte that all others were combined with by exclusive or, and letters or visible
//     characters rotated by any number: of a decoy itself, in hex or in base 64;
//   - the order reversed, pairs or nibbles swapped, and every second byte;
//   - characters without a width as bits or bytes, and blanks before the ends of lines.
//
// A dive takes a stream in parts of 64 KiB that overlap by 16 KiB: an encoding that is longer
// is found where a piece of it can be decoded by itself. What is decoded is bounded for each
// run and each part by a multiple of its length, so that the time is linear and the memory
// constant whatever a server sends. Of base 58 up to 4 KiB digits are read as one number.
//
// The following stays hidden: ciphertext, keys of several bytes, other alphabets, brotli
// without a header that says so, and parts that came in another order.
//
// The package must never write a value anywhere itself, use a word that gives
// a decoy away, or call something a find that could be there by chance.
package canaries
