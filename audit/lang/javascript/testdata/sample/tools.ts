import type { Server } from './server';
import { type Schema, parse, type as kind } from './schema';
import fs = require('fs');
import Deep = Names.Inner.Deep;
export type { Server } from './server';

type Keys<T> = { readonly [K in keyof T as `on${string & K}`]-?: T[K] extends (...given: infer A extends unknown[]) => void ? A : never };
interface Clock<out T = Date> extends Keys<T> { (now: T): void; new <U>(value: U): Clock; readonly [name: string]: unknown }
declare module 'untyped' { export function load(name: string): void; }
declare global { var __notes: Map<string, Array<Array<number>>> }
declare const VERSION: unique symbol;

export enum Level { Low, High = 1 << 2, Named = 'named', Long = "long".length }
const enum Flag { On = '+' }
namespace Names.Inner { export const Deep = load<string>('deep') as unknown as { a: 1 }; }

function note(label: string): MethodDecorator { return (target, key) => { console.log(label, key); }; }

abstract class Base<T extends object = {}> implements Disposable {
  declare hidden: string;
  protected abstract open(): Promise<void>;
  constructor(@inject('root') private readonly root: string, public level?: Level, ...rest: readonly T[]) { console.log(rest); }
  find(name: string): T;
  find(name: string, deep: boolean): T[];
  find(name: any, deep = false): any { return deep ? (name) : [name satisfies string]; }
  [index: number]: T | undefined;
  static count?: number = 0;
  label!: `a${number}`;
  @note('close') async close<U>(this: Base<T>, after?: (error?: Error | null) => asserts error is Error): Promise<void> { await this.open(); }
  accessor width = 3;
  get [Symbol.toStringTag](): string { return 'Base' }
  [Symbol.dispose](): void {}
}

@sealed @named<string>('Disk')
export default class Disk extends Base<{ path: string }> {
  protected override async open() { await fs.promises.access(this.path!, <number>fs.constants.R_OK); }
}

const pick = async <T, const K extends keyof T>(from: T, key: K): Promise<T[K]> => from[key];
const late = (value?: number, { deep }: { deep?: boolean } = {}): value is number => value! > 0;
const chosen = late() ? (kind) : pick(1, 'x'), wrapped = late() ? (a: number): string => `${a}` : null;
const made = new Map<string, Set<Array<number>>>([['a', new Set]]), smaller = made.size < 3 && 4 > (made as any).size;
const bound = parse<Schema>, called = parse<Schema>?.('x'), tagged = sql<Schema>`select ${bound}`;
let handler: typeof import('./server').handler | (() => void)[] & { a: 'b' }, answer = -(<any>made).x++;
const results = (): undefined | (() => void) =>
  made.get('undo') ? undefined : () => called();
for (const [key, value] of Object.entries(made) as [string, any][]) handler = value satisfies unknown;
export { Names, type Clock };
export = Disk;
