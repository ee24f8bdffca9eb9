import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { E2E_WORKERS } from './e2e/support/workers.ts'

/** A test waits for a condition for as long as one core beside four busy loops may need. */
const WAIT_MS = 60_000
const TEST_MS = 180_000
const LOOK_EVERY_MS = 50

const setup = { setupFiles: ['gateway/testing/each-test.ts'] }
const database = { globalSetup: ['gateway/testing/setup.ts'] }

/** Proofs that need no database. */
const PURE_PROOFS = [
  ...['bugs/pure', 'bugs/table', 'kill/seconds', 'prove'],
  ...['cover', 'defects', 'elapsed', 'night', 'prove', 'pure'].map((name) => `simulation/${name}`),
].map((name) => `proofs/${name}.test.ts`)

/**
 * It counts the functions that ran. V8 counts no single call of a function that another file has already run in the
 * same worker.
 */
const COUNTS_FUNCTIONS = 'proofs/year/year.test.ts'

/**
 * The longest files, in this order. By size some of them would begin last, and the other workers would wait for them.
 * Files that mostly wait alternate with files that compute.
 */
const LONG = [
  ...['failover/rounds', 'simulation/real', 'kill/worker', 'simulation/defects', 'store/events'].map(
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

// A renamed file must not silently lose its place.
for (const name of [...PURE_PROOFS, COUNTS_FUNCTIONS, ...LONG]) {
  if (!existsSync(join(import.meta.dirname, name)))
    throw new Error(`vitest.config.ts names ${name}, which is no file`)
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
    // A worker loads the sources once for all its files. The tests leave nothing behind that matters.
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
            '{contract,scripts,steam-sandbox,market-sandbox,demo-store}/**/*.test.ts',
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
          include: ['widget/**/*.test.{ts,tsx}'],
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
          // They run after the others, because whole tills beside them would slow both down.
          sequence: { groupOrder: 1 },
          maxWorkers: E2E_WORKERS,
        },
      },
    ],
  },
})
