import { useId, useState } from 'preact/hooks';
import type { Attention, AttentionItem } from '../../contracts/admin/attention.routes.js';
import { send } from '../client/api.js';
import type { PathOf } from '../client/contract.js';
import { type Loaded, useLoad } from '../client/load.js';
import { ActionButton, RowHead } from './forms.js';
import { Age, Reading, useReading } from './health.js';
import { Badge, Card, Loadable } from './states.js';
import { formatCount, Prose, Time } from './values.js';

const LIVE_MS = 10_000;
const FIRST_PROBLEMS = 10;
const HOME = '/console/';
const GUIDE = '/docs/guides/operator#monitor';
const TONES = { now: 'bad', soon: 'warn', watch: 'plain' } as const;

/** What needs attention, as the service ranks it, and what was looked at: for the admin of a service, or a partner of its connection. */
export function AttentionList() {
  const attention = useLoad('/attention', {}, LIVE_MS);
  return (
    <>
      <Loadable of={attention}>{(data) => data.total > 0 && <Problems attention={data} of={attention} />}</Loadable>
      {(attention.data ?? attention.error) !== undefined && <Checks of={attention} />}
    </>
  );
}

/** Of a partner too. */
type Looked = Pick<Attention, 'total' | 'data' | 'checked'>;
/** Findings with one cause, the most urgent first. */
type Problem = readonly [AttentionItem, ...AttentionItem[]];

function Problems({ attention: { data, total }, of }: { attention: Looked; of: Loaded<unknown> }) {
  const [isWhole, setWhole] = useState(false);
  const problems = [...Map.groupBy(data, ({ problem }) => problem).values()] as unknown as readonly Problem[];
  const shown = isWhole ? problems : problems.slice(0, FIRST_PROBLEMS);
  const badge = (
    <>
      <Badge value={formatCount(problems.length)} tone="bad" /> <Reading of={of} />
    </>
  );
  return (
    <Card title="Needs attention" badge={badge}>
      <ol class="needs">
        {shown.map((problem) => (
          <ProblemLine key={problem[0].problem} of={problem} />
        ))}
      </ol>
      {shown.length < problems.length && (
        <button type="button" onClick={() => setWhole(true)}>
          Show {formatCount(problems.length - shown.length)} more
        </button>
      )}
      {isWhole && total > data.length && (
        <p class="hint">and {formatCount(total - data.length)} findings of lower rank, which are not listed</p>
      )}
    </Card>
  );
}

function ProblemLine({ of: problem }: { of: Problem }) {
  const id = useId();
  const { severity } = problem[0];
  // A refused key lets all else fail.
  const lead = problem.find(({ kind }) => kind === 'refused-keys') ?? problem[0];
  const { title, hauler, connection } = lead;
  const others = problem.filter((each) => each !== lead);
  const [since = ''] = problem.map((each) => each.since).sort();
  const [deadline] = problem.flatMap((each) => each.deadline ?? []).sort();
  return (
    <li class={severity}>
      <Badge value={severity} tone={TONES[severity]} />
      <div id={id}>
        <Sentence of={lead} />
        <p class="hint">{[title, hauler?.name, connection?.interface].filter(Boolean).join(' · ')}</p>
        {others.length > 0 && (
          <details>
            <summary>{formatCount(others.length)} more of the same cause</summary>
            {others.map((each) => (
              <Sentence key={each.sentence} of={each} />
            ))}
          </details>
        )}
      </div>
      <p class="hint age">
        since <Age at={since} />
        {deadline !== undefined && (
          <>
            {Date.parse(deadline) > Date.now() ? ', ends in ' : ', over for '}
            <Age at={deadline} />
          </>
        )}
      </p>
      <Act lead={lead} items={problem} of={id} />
    </li>
  );
}

function Sentence({ of: { page, sentence } }: { of: AttentionItem }) {
  const text = <Prose text={sentence} />;
  return <p>{page === HOME ? text : <a href={page}>{text}</a>}</p>;
}

/** One press is safe for what is only asked or fetched again. All else is done at the page; a partner has its own. */
function Act({ lead: { act, page, kind }, items, of }: { lead: AttentionItem; items: Problem; of: string }) {
  const calls = items.flatMap((each) => (each.act === act ? (each.action ?? []) : []));
  if (act === undefined) return null;
  if (calls.length === 0 || kind === 'refused-keys') {
    return (
      <a class="button" href={page === HOME ? GUIDE : page} aria-describedby={of}>
        {act}
      </a>
    );
  }
  const work = () => Promise.all(calls.map(({ method, path, body }) => send(method, path as PathOf<'POST'>, body)));
  return (
    <RowHead.Provider value={of}>
      <ActionButton label={act} work={work} />
    </RowHead.Provider>
  );
}

/** One line. A check that could not be made says nothing, and without a reading none says anything. */
function Checks({ of }: { of: Loaded<Looked> }) {
  const { at, isKnown } = useReading(of);
  if (of.data === undefined || !isKnown) {
    return (
      <p class="checks hint" role="status">
        Not known {at !== undefined && 'since '}
        {at !== undefined && <Time value={new Date(at).toISOString()} />}
      </p>
    );
  }
  const { checked, data } = of.data;
  const passed = checked.filter(({ kind, ok }) => ok && data.every((item) => item.kind !== kind));
  const unknown = checked.filter(({ ok }) => !ok);
  return (
    <details class="checks">
      <summary>
        <span class="passed">{formatCount(passed.length)} checks passed</span>
        {unknown.length > 0 && `, ${formatCount(unknown.length)} not known`}
        {at !== undefined && (
          <span class="hint">
            , as of <Time value={new Date(at).toISOString()} />
          </span>
        )}
      </summary>
      <ul>
        {passed.map(({ kind, title }) => (
          <li key={kind} class="passed">
            {title}
          </li>
        ))}
        {unknown.map(({ kind, title, reason }) => (
          <li key={kind} class="unknown">
            {title}: {reason}
          </li>
        ))}
      </ul>
    </details>
  );
}
