package main

// The command must never hold more than its call of cli.
