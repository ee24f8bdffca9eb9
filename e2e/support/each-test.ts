/** Set-up of every file in e2e/. A worker reads shared-till.ts only once, and hooks belong to each file. */
import { afterEach, beforeEach } from 'vitest'
import { beginTest, endTest } from './shared-till.ts'

beforeEach(beginTest)
afterEach(({ task }) => endTest({ hasFailed: task.result?.state === 'fail' }))
