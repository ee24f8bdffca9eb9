/**
 * `node --import './steam-from-outside.mjs?port=4301' …` connects to the sandbox on this machine instead of Steam's
 * hosts. The till runs in live mode without any change; this file is not in its release.
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
