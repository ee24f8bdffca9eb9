/** Set-up of every file in e2e/. Not in stage.ts: that is read once by a worker, and hooks belong to a file. */
import { afterEach, beforeEach } from 'vitest'
import { beginTest, endTest } from './stage.ts'

beforeEach(beginTest)
afterEach(({ task }) => endTest({ hasFailed: task.result?.state === 'fail' }))
