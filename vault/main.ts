import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net'
import { run, type StricliProcess } from '@stricli/core'
import { APP } from './app.ts'
import { readSettings, type Settings } from './settings.ts'
import { createTerminal } from './terminal.ts'

// By default, Node aborts a connection to each but the last address of a host after 250 ms. Steam or a market could then
// not be reached if the last address cannot be reached, as IPv6 from a machine without it.
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
