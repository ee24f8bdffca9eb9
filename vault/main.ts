import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net'
import { run, type StricliProcess } from '@stricli/core'
import { APP } from './app.ts'
import { readSettings, type Settings } from './settings.ts'
import { createTerminal } from './terminal.ts'

// By default, Node gives every address of a host except the last only 250 ms to connect. A distant host would be out of
// reach if its last address cannot be used, such as an IPv6 address on a machine without IPv6.
setDefaultAutoSelectFamilyAttemptTimeout(3_000)

let settings: Settings | undefined
try {
  settings = readSettings(process.env)
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exitCode = 2
}
if (settings !== undefined) {
  const { stdout, stderr } = process
  const stricliProcess: StricliProcess = { stdout, stderr }
  await run(APP, process.argv.slice(2), {
    process: stricliProcess,
    settings,
    terminal: createTerminal(process),
  })
  const code = Number(stricliProcess.exitCode ?? 0)
  // The argument library returns negative codes for wrong usage.
  process.exitCode = code < 0 ? 2 : code
}
