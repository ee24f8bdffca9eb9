/**
 * The migrations that were published when databases still recorded the checksum of a migration's whole file (SHA-256,
 * hex). New migrations record the checksum of their directives and statements, as in `statements`, and are not listed
 * here.
 */
export const PUBLISHED_CHECKSUMS: Readonly<Record<string, { statements: string; file: string }>> = {
  '0001_baseline.sql': {
    statements: '5610cce67653bd55f38355537362ad6f98fc592459eb6a686b04807c8e09b0eb',
    file: 'c1f5efc339a2eb1184558c18c4db8c1f31822f7a76896a6009bf1c06b378ed33',
  },
  '0002_fleet.sql': {
    statements: '503349b9b486c1c1e49e8f4074bb5f318c92090a5747869483419e933cb4f211',
    file: 'dfec70da5266a1134f1f7cbf68cc991fc98de7c502c4678013d688fa466ab815',
  },
  '0003_rails.sql': {
    statements: '889230906df7cce9c0a58d3339eb331261cddf1a157ee284cd9590abec4d5e60',
    file: '24c8fceaf2065cf9a0677a7212d64de0aa040d4ad31e3e2aafe0817f3c214e3c',
  },
  '0004_budgets.sql': {
    statements: '53ef9b048a4531421701953b2c3f9c02edefd9422649aa4f5bdc3556de384c91',
    file: '8492b56748d2d382a963df8ebf9d96d767b818007d33ea237238a3be7155f645',
  },
  '0005_payer.sql': {
    statements: '692b4926ea955bbd07085a8d923d52782ca7555fe84cf21d3232e402d9015d11',
    file: 'a1b911899061bb82ca680f314f57085d9e7c10ae792ec7fd37dee9fbd2dccff9',
  },
  '0006_tenants.sql': {
    statements: '2769d48e076eeb0460d443d0ccac3126fab6a8cd984ca7750af8df23ecdb45e5',
    file: 'ac16099bbae47b5639538a4a0d056f52bbc1d3e22a5da32bcf720a8438c280fc',
  },
  '0007_keys.sql': {
    statements: '459689207c8d44b6f27fadb75247e207608b6c12eb2b4c1ebd27b50dff6ffe0a',
    file: 'fe4ff3e24f8d0116ac885a2cc74680ed996fa155fd15e9bf114c31934ab32e05',
  },
  '0008_year.sql': {
    statements: '772c2f2db7299cbe7e8d6cc1d6a70a9afdd817f1481e4f0778b587dba65039a5',
    file: '293722588a960fc61422c0959d14546b448fa37aff7e6d50962db84e8c97e6a5',
  },
  '0009_sealed.sql': {
    statements: '5d3bc1315fe73c9c2e064423bfc0d1a0efdd99dc943cac1b988002690eb57384',
    file: '1e02b7997c4a84916d7343cde59d3722ae35cc4516a210d4471e2b050b8a80fb',
  },
  '0010_promise.sql': {
    statements: '3e0567d067ac6fc49f0a21eb316e1fb734bc66e8f4146ae1c3afd7213f930d6f',
    file: 'fd130a10438976e06f48d6c014039b2b1c0bd580b54464a41c88690e8678537d',
  },
  '0011_credit.sql': {
    statements: 'e10a06326d363cffe641dff296bcd11641d80d0b992fa1445d08ce06dcfbc852',
    file: '0c7412c2c8f8799f52a7b659cdb7b1146a142783630b5504a92ef686bc7010a3',
  },
  '0012_roles.sql': {
    statements: 'f25efebcdaf8c1ff9ab2bbd31cce6d0910cb6c5ef1ab2137c5f0b4e74792d0ff',
    file: '3eb4c137717a6f171c3de0085ef387dda949d6d5f9600dfec6ff1737886d9c30',
  },
  '0013_epochs.sql': {
    statements: 'a17382a76d444009f3814ee51cd8c3db1830d37fc19894d8ce74004792583547',
    file: '1222b10b666a71b12b89ffe6e4c28d9eec367c4ce6f45469dc9f2cd6d3afa117',
  },
  '0014_custody.sql': {
    statements: '58609bf2bfc411aaac13ab89b87af45bebfc68b572e793d793df81bb19bd712e',
    file: 'f370eebfb32a0443b8302bd3972396c78e5946798ea1388d0d5b656bd5da6d43',
  },
  '0015_vault.sql': {
    statements: '7c44b734ac45088c190be94a3b4df36d40d020dd1719f251332415ec7430fbd6',
    file: 'd33ba465e0aa90b56948653b8ea20fd0760664d7bcd268ecfebc51c627d03ece',
  },
  '0016_sales.sql': {
    statements: 'ee79458a0afde0c1a723d24769b5889f88a3ed2a0e4af421b2387645da60a4c1',
    file: '83660e2e7e38677ce6056852157ddb845238acd01e931226b0dd753c88cf01e9',
  },
  '0017_drift.sql': {
    statements: '7aea34f258d6b93a0fe71596f0eea41356b0ebe72e330019835726a9c10e2029',
    file: '2db6a708651c2568343e9a4cc6415638a91ea9f47560b9ae088c85b1d9b911e3',
  },
  '0018_finding.sql': {
    statements: '563f7966cfa9dff5123f139025e54cbe1f0498ceef3d67007023d85aaf50269d',
    file: '4c2c2953febc66f1900a72e1d6dab15875341b75f5e1934c65d8c5ba33a27064',
  },
  '0019_console.sql': {
    statements: '6975331f1028db9641c3790ec6808403857bdd844921d4fb06cbeebd36ce2b57',
    file: 'd2615070a7a066f5dc7bfc8deeeda5f9d0b407dd7e132381e6e8fbc30e69600a',
  },
  '0020_embed.sql': {
    statements: '72a2f3317e5bbd28345cc00a63cb2846515288a2e654795386c54b0b5d3a987a',
    file: '33813fd79e1d32b53808d5d3667a5d6102a511acdb4a47187527b1ec0a6b0c31',
  },
  '0021_selling.sql': {
    statements: '940e1d20bf321d4aa41270dbabd63267aa39a45a5915081922c9285972cc9f3c',
    file: 'f30544465e5eae5ae082cf4f89c6b6cd628607b146d790e36c4f097004b7c1b6',
  },
  '0022_open_trades.sql': {
    statements: '5cc47c7fcddf61c7525e9736ad53b3daa2c6e8593efdffbdb0d1839da36891cf',
    file: 'ffb176358661a8d29196d872dfae8aab198fbb4b8d2710c6ff77a92cb0f98843',
  },
  '0023_bot_calls.sql': {
    statements: 'b9415a7a662173820d2e649f801af70e41722930fbfe2de48d30a815e39ace89',
    file: '4830c13d37388a5e15ca1060d00cf5a7d2c2f8eca96282d716b3e5c5bbeb422a',
  },
  '0024_alerts.sql': {
    statements: 'ccad0da4fc351f5608994be3f3819559554db01d735e208130c00ec2e0e6807b',
    file: '757806f80b7bcc397bd08f5851c13a5da67cb2a1bc363929650e759b928d94a5',
  },
  '0027_counts.sql': {
    statements: '7ab7d7bc740ae323ec72d5f28a45240a8c0760f149cd86e40823a304e0956122',
    file: 'e4751c9ec8e87795aa64cf0d3458c3ba0bc6c9ad29d3009640c07bfb7eabfe88',
  },
  '0028_one_index_of_bots.sql': {
    statements: '3937a7966768c75509b20fc095f28460db70563461360497955928adb85521f6',
    file: 'e1918dad88a3dc9b5885c65ba7cc12a8e499ea73809269606ca4c99f470190df',
  },
  '0029_moved_alone.sql': {
    statements: '8d53ad2cd6e1220dbd0151485e2bfc3ee80dde0a7fdf892fba69f3cfae1be843',
    file: '56669fb7312171d1f910fe55c2b7778fabded6f67f494a3c6a1e0627dc958f73',
  },
  '0031_deeds.sql': {
    statements: '0b7867dac3adcde94662e211266f265871a12e8273628d970dde8e1734eaf90a',
    file: '8d13929fbf7e6684acc797ddda0ae0e6aeabbae0a3a81345759cd3a9b792d733',
  },
  '0032_first_entries.sql': {
    statements: 'ef92b1ab92f646a6871fe841a9f34b179fc145dbb8536caa50b851ae7e09c34b',
    file: '74b919bca35e1301e41f62d4a18647c865ecd69f5b403cf5b1f6f58d56bb2b77',
  },
  '0033_held_items.sql': {
    statements: 'dea326599078ecb333c3d666d2d4af9c34ba780353a5aa62cb1a79848487a5ac',
    file: '8cec94eef336fc1656af195dd9a16113f799bdd3381c346fec9c87e6636c8555',
  },
  '0034_sent_back.sql': {
    statements: 'fec794894f97f1d8ecd3a3bdc1108bffa03bc878b33ff2bd1932a19c9ebae213',
    file: '0f236e2deb895c311fedaf077cf533b66bcca4dfd50f6c31db83305577fa62ec',
  },
  '0035_maintenance.sql': {
    statements: '1800f822c98b2ccf106d7d3c23535c89057ac0a3550ef8f867845bfb862aa425',
    file: 'c8227bc276b3f25c715f7bae0039abd7fc7b5b8bfad6e8bac31911f03dc85b09',
  },
  '0036_steam_calls.sql': {
    statements: '3ade43e983e30c832acae327f0a6aabcdbdbca29cbac7dab89f86b26ab866dcf',
    file: 'fd8938a229c0af025d478ce9546a836c0dfaaf39a814479169603b37e380b649',
  },
  '0037_released_early.sql': {
    statements: 'a6c9ceddec53ee9bae77c1869cb4fcf409d32fa3542ce5c53142b8089d93d26c',
    file: 'f78b71c0182927284ad4c255fefb3d3e18273492a67d163ebbb60ccb1f00edaa',
  },
  '0038_amounts.sql': {
    statements: 'b47e1bc0ca8af50d986ff8029c52db9d3106e8afc70626b1e7443f99cecbc2fa',
    file: '4e6149d3912b9c8760146f37ba0b12ac765437d995fb0abd26d41e6f21a4eeea',
  },
  '0039_own_sales.sql': {
    statements: '0b3789b3af9220e5c486affd063c4cea5f891aa33bec2f3bae9f61c7a2a75fa7',
    file: '5d7defd61c7f60c495e0635cba97492a3450bb27d29e4b93f3ee61ec054a2b47',
  },
  '0040_own_sale_indexes.sql': {
    statements: 'd49a0dbaf4e175f1dcb34d6a5bc42f2a27cbaf206303addc2a162538bd58d63d',
    file: '0d608b59571d1816a3b586e351cd3a4650db75a7f2198b76ec6f42f1bd256147',
  },
  '0041_priced_as.sql': {
    statements: '9bb18a2a913ed9dcc9b8518f5967d04956fbaa9c77590931c013c6126f55ce32',
    file: 'a8ddca2cbdaed1ef31fbd9f3da606fdb0b2e5758cfe166ace644f6a1bda40760',
  },
  '0042_amounts_of_store.sql': {
    statements: '1181bcb8a1bd48663fbce65594c3374931f3b35c94fcf027d126b7fbc52be03f',
    file: '87bdf6197ca5df5ab055cb5a8eff866d91baf3ffe0650360e26b5ca701acc6b4',
  },
  '0043_bot_member_since.sql': {
    statements: '86674342981b3403d521a66095d556c39f4636d86245d94ea1678eb5e9257e65',
    file: '10cc79ac6d269bcaf62497b316e928b52c1194409890c7672e7fe549253b0842',
  },
  '0044_phase_of_item.sql': {
    statements: '80034aa47307c79fbb6f4cc6f97ee9a30eb4ad7b5a5f5b2eb1ce97d435c580db',
    file: '5668499036ee3076fc4ddb4d33bd49b5ac1d8f18f2fc27e63d9921eafded6353',
  },
}
