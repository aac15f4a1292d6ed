const TEXTS = {
  issued: {
    label:
      'The old key works until the new one is first used, and for the overlap after that. The new key works at once.',
    split: 'first use of the new key',
    end: 'overlap ends',
  },
  partner: {
    label:
      'The service calls with the current key. When the partner refuses it, the service tries the next key, and from then on uses that one.',
    split: 'partner refuses the current key',
    end: '',
  },
} as const;

/** How two keys overlap, as two bars over time. */
export function RotationPicture({ kind }: { kind: keyof typeof TEXTS }) {
  const { label, split, end } = TEXTS[kind];
  const oldEnd = kind === 'issued' ? 410 : 270;
  return (
    <figure class="rotation">
      <svg viewBox="0 0 560 118" role="img" aria-label={label}>
        <text x="0" y="34">
          {kind === 'issued' ? 'old key' : 'current key'}
        </text>
        <rect class="old" x="90" y="20" width={oldEnd - 90} height="20" rx="4" />
        <text x="0" y="70">
          {kind === 'issued' ? 'new key' : 'next key'}
        </text>
        <rect class="dormant" x="90" y="56" width="180" height="20" rx="4" />
        <rect class="new" x="270" y="56" width="280" height="20" rx="4" />
        <line x1="270" x2="270" y1="12" y2="92" />
        <text x="270" y="108" text-anchor="middle">
          {split}
        </text>
        {end !== '' && (
          <>
            <line x1={oldEnd} x2={oldEnd} y1="12" y2="50" />
            <text x={oldEnd + 8} y="34">
              {end}
            </text>
          </>
        )}
      </svg>
      <figcaption>{label}</figcaption>
    </figure>
  );
}
