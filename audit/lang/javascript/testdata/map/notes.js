var Shelf=class{notes=new Map;put(name,note){this.notes.set("🗒 "+name,note)}};var shelf=new Shelf,greeting="Grüß dich";shelf.put(greeting,readNote("first"));function readNote(name){return`note ${name}`}
//# sourceMappingURL=notes.js.map
