import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { E2E_WORKERS } from './e2e/support/workers.ts'

/** How long a test waits for a condition: enough on one core that four busy loops share. */
const WAIT_MS = 60_000
/** Ends a test that hangs. No test depends on this time. */
const TEST_MS = 600_000
const LOOK_EVERY_MS = 50

const setup = { setupFiles: ['gateway/testing/each-test.ts'] }
const database = { globalSetup: ['gateway/testing/setup.ts'] }

/** Proofs that need no database. */
const PURE_PROOFS = [
  ...['bugs/pure', 'bugs/table', 'kill/seconds', 'kill/till', 'prove'],
  ...['cover', 'defects', 'elapsed', 'night', 'prove', 'pure'].map((name) => `simulation/${name}`),
].map((name) => `proofs/${name}.test.ts`)

/**
 * This test counts the functions that ran, so it has a worker to itself: V8 does not count a function again if another
 * file has already run it in the same worker.
 */
const COUNTS_FUNCTIONS = 'proofs/year/year.test.ts'

/**
 * The longest test files run first, in this order. Vitest sorts by file size, so some of these would begin last and the
 * other workers would wait for them. Files that mostly wait alternate with files that compute.
 */
const LONG = [
  ...['failover/rounds', 'simulation/real', 'kill/one-kill', 'simulation/defects', 'store/events'].map(
    (name) => `proofs/${name}.test.ts`,
  ),
  ...['bots/runner', 'steam/web/failures', 'main', 'bots/two-gateways', 'db/boss-queue'].map(
    (name) => `gateway/${name}.test.ts`,
  ),
  ...['kill/rounds', 'simulation/pure', 'live/live'].map((name) => `proofs/${name}.test.ts`),
  ...[
    'start',
    'resilience',
    'outcomes',
    'embed',
    'trouble',
    'accessibility-screens',
    'console',
    'journey',
  ].map((name) => `e2e/${name}.test.ts`),
]

// Without this check, a renamed file would silently lose its place in these lists.
for (const name of [...PURE_PROOFS, COUNTS_FUNCTIONS, ...LONG]) {
  if (!existsSync(join(import.meta.dirname, name)))
    throw new Error(`vitest.config.ts names ${name}, which does not exist`)
}

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const found = LONG.findIndex((name) => moduleId.endsWith(`/${name}`))
      return found < 0 ? LONG.length : found
    }
    const sorted = await super.sort(files)
    return sorted.toSorted((one, other) => place(one) - place(other))
  }
}

export default defineConfig({
  test: {
    // Some tests wait while others compute.
    maxWorkers: availableParallelism() + 1,
    // A worker loads the sources once for all its files, which is safe because tests leave nothing behind.
    isolate: false,
    testTimeout: TEST_MS,
    hookTimeout: TEST_MS,
    expect: { poll: { timeout: WAIT_MS, interval: LOOK_EVERY_MS } },
    sequence: { sequencer: LongFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: [
            '{contract,scripts,sdk,steam-sandbox,market-sandbox,demo-store}/**/*.test.ts',
            '*.test.ts',
            ...PURE_PROOFS,
          ],
          ...setup,
        },
      },
      {
        extends: true,
        test: {
          name: 'server',
          include: ['{gateway,embedded-postgres,vault,proofs}/**/*.test.ts'],
          exclude: [...PURE_PROOFS, COUNTS_FUNCTIONS],
          ...setup,
          ...database,
        },
      },
      {
        extends: true,
        test: {
          name: 'counted',
          include: [COUNTS_FUNCTIONS],
          isolate: true,
          ...setup,
          ...database,
        },
      },
      {
        extends: true,
        test: {
          name: 'widget',
          include: ['{widget,console}/**/*.test.{ts,tsx}'],
          ...setup,
          // Style sheets are empty in tests, except the colours.
          css: { include: [/tokens\.css/] },
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['e2e/**/*.test.ts'],
          setupFiles: [...setup.setupFiles, 'e2e/support/each-test.ts'],
          globalSetup: ['e2e/support/setup.ts'],
          // The e2e tests run after the others: their tills would compete with those tests for the processor.
          sequence: { groupOrder: 1 },
          maxWorkers: E2E_WORKERS,
        },
      },
    ],
  },
})
