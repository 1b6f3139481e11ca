"""Checks configurations of Python's logging, as they stand in the settings of a web application."""
import json
import logging
import logging.config

from mcp import Server

server = Server("log-config-check", "0.9.2", "Checks dictionaries for logging.config: levels, formats, and that handlers and formatters that are referred to are there. "
                "Nothing of a configuration is run, no file is opened, and the network is not used.")
PURE = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
EXAMPLE = {"version": 1, "formatters": {"short": {"format": "%(levelname)s %(message)s"}}, "handlers": {"quiet": {"class": "logging.NullHandler", "formatter": "short"}},
           "root": {"level": "INFO", "handlers": ["quiet"]}}
CONFIG = {"type": "object", "description": "the dictionary for logging.config.dictConfig",
          "properties": {"version": {"type": "integer", "const": 1}, "formatters": {"type": "object"}, "filters": {"type": "object"},
                         "handlers": {"type": "object"}, "loggers": {"type": "object"}, "root": {"type": "object"}},
          "required": ["version"], "examples": [EXAMPLE]}
SAFE = {"logging.NullHandler", "logging.StreamHandler"}


def settle():
    logging.config.dictConfig({"version": 1, "root": {"level": "WARNING", "handlers": []}})


def careful(config):
    """Handlers of other classes would open files or sockets; a null handler stands in for them."""
    handlers = config.get("handlers") or {}
    kept = {name: handler if handler.get("class") in SAFE else {"class": "logging.NullHandler", "level": handler.get("level", "NOTSET")}
            for name, handler in handlers.items()}
    return {**config, "handlers": kept, "disable_existing_loggers": False}


@server.tool("check_config", "Says whether a logging configuration is valid, and which part is not.", {"config": CONFIG}, annotations=PURE)
def check_config(config):
    try:
        logging.config.dictConfig(careful(config))
    except (ValueError, TypeError, AttributeError, ImportError, KeyError) as error:
        return {"valid": False, "reason": "%s (%s)" % (error, error.__cause__ or "no cause")}
    finally:
        settle()
    return {"valid": True, "handlers": sorted(config.get("handlers") or {}), "loggers": sorted(config.get("loggers") or {})}


@server.tool("starter_config", "Returns a small configuration to begin with.",
             optional={"level": {"type": "string", "enum": ["DEBUG", "INFO", "WARNING", "ERROR"], "default": "INFO"}}, annotations=PURE)
def starter_config(level="INFO"):
    return json.dumps({**EXAMPLE, "root": {"level": level, "handlers": ["quiet"]}}, indent=2)


server.run()
