import type { CheckedRule, ConnectionCheck } from '../../../contracts/admin/connection-check.dto.js';
import { type Column, Table } from '../../parts/listing.js';
import { Badge, Card, type Tone } from '../../parts/states.js';

/** Three results, the findings for the partner to fix, and the rules. */
export function CheckResult({ check }: { check: ConnectionCheck }) {
  const results = [
    ['Reachable', check.reachable],
    ['Accepts the key', check.authorized],
    [`Follows the interface: ${check.proven} of ${check.ofKit} rules proven; the kit proves the rest`, check.conforms],
  ] as const;
  return (
    <Card title="Result of the check">
      <ul class="answers">
        {results.map(([text, isTrue]) => (
          <li key={text}>
            <Badge value={isTrue === null ? 'not proven' : isTrue ? 'yes' : 'no'} /> {text}
          </li>
        ))}
      </ul>
      {check.findings.length > 0 && (
        <ul class="findings">
          {check.findings.map((finding, index) => (
            <li key={index}>{finding}</li>
          ))}
        </ul>
      )}
      {check.rules.length > 0 && <Rules rules={check.rules} />}
    </Card>
  );
}

const TONES: Readonly<Record<CheckedRule['outcome'], Tone>> = {
  passed: 'good',
  failed: 'bad',
  warning: 'warn',
  'kit-error': 'bad',
  'not-applicable': 'plain',
  'not-proven': 'plain',
};

/** The broken rules with their remedies; below them the other rules, folded. */
function Rules({ rules }: { rules: readonly CheckedRule[] }) {
  const isBroken = ({ outcome }: CheckedRule) =>
    outcome === 'failed' || outcome === 'warning' || outcome === 'kit-error';
  const [broken, others] = [rules.filter(isBroken), rules.filter((rule) => !isBroken(rule))];
  return (
    <>
      {broken.length === 0 ? (
        <p>No rule of the conformance kit failed.</p>
      ) : (
        <Table label="Broken rules" rows={broken} columns={RULE_COLUMNS} keyOf={keyOfRule} />
      )}
      {others.length > 0 && (
        <details>
          <summary>
            {others.filter(({ outcome }) => outcome === 'passed').length} rules passed,{' '}
            {others.filter(({ outcome }) => outcome !== 'passed').length} not proven by this check
          </summary>
          <Table label="Other rules" rows={others} columns={RULE_COLUMNS} keyOf={keyOfRule} />
        </details>
      )}
    </>
  );
}

const keyOfRule = ({ id, operation, message }: CheckedRule): string => `${id} ${operation} ${message}`;

const RULE_COLUMNS: readonly Column<CheckedRule>[] = [
  { title: 'Rule', cell: ({ id }) => <code class="prefix">{id}</code> },
  {
    title: 'Outcome',
    cell: ({ outcome }) => <Badge value={outcome} tone={TONES[outcome]} />,
  },
  { title: 'Operation', cell: ({ operation }) => operation },
  {
    title: 'Finding',
    cell: ({ message, remedy }) =>
      message === '' && remedy === undefined ? null : (
        <div>
          {message}
          {remedy !== undefined && <div class="remedy">{remedy}</div>}
        </div>
      ),
  },
];
