CREATE TABLE city (name TEXT PRIMARY KEY, country TEXT NOT NULL, people INTEGER NOT NULL);
CREATE TABLE line (name TEXT PRIMARY KEY, start TEXT REFERENCES city, stop TEXT REFERENCES city, km INTEGER);
INSERT INTO city VALUES ('Bergen', 'Norway', 291940), ('Oslo', 'Norway', 717710), ('Malmö', 'Sweden', 362133), ('Turku', 'Finland', 202250), ('Aarhus', 'Denmark', 290598);
INSERT INTO line VALUES ('Bergen Line', 'Bergen', 'Oslo', 496), ('Coast Line', 'Malmö', 'Oslo', 600);
