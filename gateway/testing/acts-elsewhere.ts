/** Acts of the command line that have no case in `gateway/cli/acts.test.ts`, because other tests cover them. */
const verbs = (noun: string, list: string) => list.split(' ').map((verb) => `${noun} ${verb}`)

export const ACTS_TESTED_ELSEWHERE = [
  ...verbs('bot', 'enrol add renew'),
  ...verbs('trade', 'look end credit release reverse'),
  ...verbs('store', 'free-room disable enable credit debit write-off'),
  ...verbs('items', 'moved unmoved drift sold send return unwish rule'),
  ...verbs('webhook', 'remove replay rotate'),
  ...verbs('operator', 'add link remove'),
  ...verbs('proposal', 'decline limit'),
  ...[
    'clock advance',
    'payout void',
    'deposit hold',
    'deposit release',
    'shopper trust',
    'price override',
    'key-ring forget',
  ],
]
