import React, { useState } from 'react';
import { Box, Text } from 'ink';

type Props<T> = { items: T[]; pick?: (item: T) => void };

export const List = <T,>({ items, pick }: Props<T>) => {
  const [at, move] = useState<number | null>(null);
  const rest = { 'data-kind': "list" } as const;
  return (
    <Box flexDirection='column' {...rest} onInput={(key: string): void => { if (key === 'j') move((n) => (n ?? 0) + 1); }}>
      {/* Each item has its own line. */}
      {items.map((item, i) => <Text key={i} bold={i === at}>{String(item)}</Text>)}
      <Text.Small dimColor>Use j &amp; k, {at === null ? 'none' : <>number <b>{at}</b></>} chosen</Text.Small>
      <svg:use-it href="a
b" />
      <Select<T> of={items} onPick={pick!} empty=<i/> />
    </Box>
  );
};

export default function App<T extends object>(props: Props<T>): React.ReactNode {
  return props.items.length > 0 ? <List {...props} /> : <Text>{`nothing ${1 / 2}`}</Text>;
}
