/** The lines that a proxy needs for the keys of a hauler that has moved: their prefixes name the old cell. */
export function routesOf(
  prefixes: readonly string[],
  cell = '<cell>',
): { lines: Record<'haproxy' | 'nginx', string[]>; text: string } {
  const lines = {
    haproxy: prefixes.map((prefix) => `${prefix} ${cell}`),
    nginx: prefixes.map((prefix) => `~^${prefix} ${cell};`),
  };
  const text =
    prefixes.length === 0
      ? 'It has no keys: no route has to change.'
      : [
          'Add to the map of HAProxy (keys.map), and reload it:',
          ...lines.haproxy.map((line) => `  ${line}`),
          'or to the map of nginx (moved-keys.map), and reload it:',
          ...lines.nginx.map((line) => `  ${line}`),
        ].join('\n');
  return { lines, text };
}
