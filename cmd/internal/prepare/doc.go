// Package prepare packs what a probe fetches, answers of registries and images, into one archive, and
// unpacks it on a machine that has no network.
//
// An archive is a tar: the manifest prepared.json first, then the registries' answers by their names in the
// cache, then the images as an engine writes them.
//
// It must never fetch anything itself, never write outside of the directory that it is given, never follow a link, and
// never unpack without bound.
package prepare
