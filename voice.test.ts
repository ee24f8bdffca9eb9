/** Holds the words of comments, messages and documents against the voice of this project, where it has been edited. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = import.meta.dirname

/** What not to write, and what to write for it. A word list only: it does not know a good sentence. */
const WORDS: readonly [RegExp, string][] = [
  [/\bshall\b/i, 'must, should or will'],
  [/\banew\b/i, 'again'],
  [/\bby (?:it|them|him|her|our)sel(?:f|ves)\b/i, 'automatically, or on its own'],
  [/\bso that\b/i, 'so, or to'],
  [/\b(?:that|which|who) (?:is|are) none\b/i, 'that is not one, or invalid'],
  [/\bno more(?=\s*[.;:,)]|\s*$)/im, 'no longer, or not again'],
  [/(?:^|[.:*/] )(?:Who|Whoever|What|Whatever|Whose)\b(?![^.]*\?)/m, 'a subject that is a thing'],
  [/(?:^|[.:*/] )So (?:many|much|long|far|often)\b/m, 'How many, how much …'],
  [/\bhow-?manieth\b/i, 'how many times before'],
  [/\boffers? (?:that )?stands?\b|\bstanding offer/i, 'an open offer'],
  [/\b(?:is|are|was|were|be) come by\b/i, 'obtained'],
  [/\bof (?:its|their) own accord\b/i, 'automatically'],
  [/\bfor ever\b/i, 'forever'],
  [/\b(?:upon|whereof|thereof|whereby|hitherto|herewith)\b/i, 'on, of which, by which …'],
  [/\bneeds? not\b/i, 'does not have to'],
  [/\b(?:is|are) to be (?=\w+ed\b)/i, 'must be'],
  [/\bby halves\b/i, 'partly'],
  [/\b(?:is|are|was|were) looked for\b/i, 'we look for, or check for'],
  [/\bknows? no\b/i, 'does not know'],
  [/\bsave for\b|\blest\b/i, 'except, or so … does not'],
]

/** Files, or folders with a slash at the end. Add what you write or edit; in the end this is the whole tree. */
const EDITED = [
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'README.md',
  'architecture.test.ts',
  'console/',
  'contract/',
  'demo-store/',
  'sdk/books.ts',
  'sdk/client.ts',
  'sdk/problem.ts',
  'sdk/sdk.test.ts',
  'sdk/webhook.ts',
  'docs/bugs-of-others.md',
  'docs/decisions/002-embedded-postgres.md',
  'docs/decisions/012-a-queue-of-a-library.md',
  'docs/decisions/040-proofs-that-can-be-repeated.md',
  'docs/decisions/050-store-api-as-a-table.md',
  'docs/decisions/071-whose-database-it-is.md',
  'docs/decisions/072-oldest-version-of-a-schema.md',
  'docs/decisions/073-calls-for-another-host.md',
  'docs/decisions/074-live-mode-names-its-proxies.md',
  'docs/console.md',
  'docs/decisions/170-a-session-in-two-halves.md',
  'docs/decisions/171-passkeys-by-a-library.md',
  'docs/decisions/172-a-second-operator-by-repeating-the-act.md',
  'docs/decisions/214-the-tour-is-played-not-shown.md',
  'docs/decisions/192-a-settled-number-is-found-by-locks.md',
  'docs/decisions/193-a-key-is-held-while-its-call-runs.md',
  'docs/decisions/194-a-look-costs-as-many-items-as-it-has.md',
  'docs/proofs.md',
  'docs/security.md',
  'e2e/console.test.ts',
  'e2e/gallery.ts',
  'e2e/support/',
  'embedded-postgres/',
  'gateway/bots/activity.ts',
  'gateway/bots/bot.ts',
  'gateway/bots/fleet.ts',
  'gateway/bots/health-keeper.ts',
  'gateway/bots/health.test.ts',
  'gateway/bots/health.ts',
  'gateway/bots/held-bot.ts',
  'gateway/bots/item-store.ts',
  'gateway/bots/items.ts',
  'gateway/bots/jobs.ts',
  'gateway/bots/lanes.test.ts',
  'gateway/bots/lanes.ts',
  'gateway/kit/limiter.ts',
  'gateway/bots/operator.ts',
  'gateway/bots/process-store.ts',
  'gateway/bots/runner-spread.test.ts',
  'gateway/bots/runner.test.ts',
  'gateway/bots/runner.ts',
  'gateway/bots/service.ts',
  'gateway/bots/session-health.test.ts',
  'gateway/bots/session-health.ts',
  'gateway/bots/spread.test.ts',
  'gateway/bots/spread.ts',
  'gateway/bots/token-end.ts',
  'gateway/bots/token-watch.test.ts',
  'gateway/bots/token-watch.ts',
  'gateway/bots/two-gateways.test.ts',
  'gateway/bots/work.test.ts',
  'gateway/bots/work.ts',
  'gateway/cli/whose-database.test.ts',
  'gateway/config.ts',
  'gateway/console/',
  'gateway/db/connection-file.ts',
  'gateway/db/identity.ts',
  'gateway/db/migrate.test.ts',
  'gateway/db/migrate.ts',
  'gateway/db/migrations/',
  'gateway/db/ping.ts',
  'gateway/db/schema-version.ts',
  'gateway/db/schema.test.ts',
  'gateway/db/settled-store.test.ts',
  'gateway/db/settled-store.ts',
  'gateway/db/silence.test.ts',
  'gateway/deposits/error-reports.test.ts',
  'gateway/deposits/error-reports.ts',
  'gateway/deposits/jobs.ts',
  'gateway/deposits/store.ts',
  'gateway/deposits/timeline-store.ts',
  'gateway/deposits/view-store.ts',
  'gateway/events/',
  'gateway/gateway.ts',
  'gateway/http/',
  'gateway/inventory/',
  'gateway/kit/',
  'gateway/ledger/',
  'gateway/main.test.ts',
  'gateway/main.ts',
  'gateway/master-key.ts',
  'gateway/mode-checks.test.ts',
  'gateway/mode-checks.ts',
  'gateway/operations/items.ts',
  'gateway/operations/operators.ts',
  'gateway/operations/proposals.ts',
  'gateway/operators/',
  'gateway/operations/recount-store.ts',
  'gateway/outages/',
  'gateway/pricing/',
  'gateway/startup.test.ts',
  'gateway/startup.ts',
  'gateway/steam/',
  'gateway/store-api/',
  'gateway/stores/',
  'gateway/sweeps.test.ts',
  'gateway/testing/bots.ts',
  'gateway/testing/schema-types.ts',
  'gateway/trades/',
  'gateway/webhooks/',
  'market-sandbox/',
  'proofs/attacks/',
  'proofs/bugs/',
  'proofs/cut/',
  'proofs/kill/',
  'proofs/machine.ts',
  'proofs/mutation/',
  'proofs/proof.ts',
  'proofs/prove.test.ts',
  'proofs/prove.ts',
  'proofs/results.ts',
  'proofs/server.ts',
  'proofs/simulation/',
  'proofs/store/',
  'scripts/',
  'steam-sandbox/http.ts',
  'steam-sandbox/protobuf.ts',
  'vault/',
  'vitest.config.ts',
  'widget/',
]

const isEdited = (file: string): boolean =>
  EDITED.some((each) => file === each || (each.endsWith('/') && file.startsWith(each)))

const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(ROOT, file)))

/** Every line of `text` that a word of the list is in, with what to write instead. */
function complaintsOf(text: string): string[] {
  return text.split('\n').flatMap((line, index) =>
    WORDS.flatMap(([word, better]) => {
      const found = word.exec(line)
      return found === null ? [] : [`${index + 1}: "${found[0].trim()}" (${better})`]
    }),
  )
}

describe('the words', () => {
  it('of every edited file are plain', () => {
    const complaints = files
      .filter((file) => isEdited(file) && /\.(?:tsx?|mjs|css|md|sql)$/.test(file))
      .flatMap((file) =>
        complaintsOf(readFileSync(join(ROOT, file), 'utf8')).map((line) => `${file}:${line}`),
      )
    expect(complaints).toEqual([])
  })

  it('are held for files that exist', () => {
    const gone = EDITED.filter((each) => !files.some((file) => file === each || file.startsWith(each)))
    expect(gone).toEqual([])
  })

  it.each([
    '// The shopper shall wait.',
    '/** Whoever asks first gets it. */',
    ' * It ends. What leaves already is left alone.',
    '// So many attempts are kept.',
    '/** It works no more. */',
    'the offer stands',
    "'It goes on by itself'",
  ])('are found: %s', (line) => {
    expect(complaintsOf(line)).toHaveLength(1)
  })

  it.each([
    '// Shallow copies will do.',
    '/** What is this? */',
    'so much that 3 no more than 4',
    'the stand offers',
  ])('are left alone: %s', (line) => {
    expect(complaintsOf(line)).toEqual([])
  })
})
