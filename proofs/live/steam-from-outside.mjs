/**
 * `node --import 'steam-from-outside.mjs?port=4301' …`: connections to hosts of Steam lead to the sandbox on this machine.
 * The till does not know: it runs in live mode, and its release holds nothing of this file.
 */
import { Agent } from 'node:https'
import { connect } from 'node:net'

const STEAM = /(?:^|\.)(?:steamcommunity\.com|steampowered\.com|steamstatic\.com)$/
const port = Number(new URL(import.meta.url).searchParams.get('port'))
const { createConnection } = Agent.prototype

Agent.prototype.createConnection = function (options, ...rest) {
  const isSteam = STEAM.test(options.host ?? options.hostname ?? '')
  return isSteam ? connect({ host: '127.0.0.1', port }) : createConnection.call(this, options, ...rest)
}
