/**
 * The migrations that were published while a database recorded the checksum of a migration's whole file (SHA-256, hex).
 * New migrations record the checksum of their statements, and are not listed here.
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
    statements: '06765d1682d74bd1575709b66621577e3dfb56fca77fddab47e8509fd8119e4c',
    file: '24c8fceaf2065cf9a0677a7212d64de0aa040d4ad31e3e2aafe0817f3c214e3c',
  },
  '0004_budgets.sql': {
    statements: 'b4eaf23e40c181a8be03778e44a5f0065fe228dda26dce074cb3c5e2dab292fb',
    file: '8492b56748d2d382a963df8ebf9d96d767b818007d33ea237238a3be7155f645',
  },
  '0005_payer.sql': {
    statements: '0810581c42c0d632b19f96d84a2f7f5ae853ebddea74b97e44072434fb4573b4',
    file: 'a1b911899061bb82ca680f314f57085d9e7c10ae792ec7fd37dee9fbd2dccff9',
  },
  '0006_tenants.sql': {
    statements: 'f7e741b8c24e41809c0e8fdf2451f40dae9e815e061bdab2a55d76f9510fc12e',
    file: 'ac16099bbae47b5639538a4a0d056f52bbc1d3e22a5da32bcf720a8438c280fc',
  },
  '0007_keys.sql': {
    statements: '559f39bae7035b988d36d4fdaa3001f0cca046878f7d6768d47eef32bfdcad6d',
    file: 'fe4ff3e24f8d0116ac885a2cc74680ed996fa155fd15e9bf114c31934ab32e05',
  },
  '0008_year.sql': {
    statements: 'b9da658f434b7aa3567b8d22526ada4234053160db547fff9f39e97b771ff174',
    file: '293722588a960fc61422c0959d14546b448fa37aff7e6d50962db84e8c97e6a5',
  },
  '0009_sealed.sql': {
    statements: 'bfa4d3876cd812be721eb96a51968acd60f9a0397e0ee15c8941817748de6657',
    file: '1e02b7997c4a84916d7343cde59d3722ae35cc4516a210d4471e2b050b8a80fb',
  },
  '0010_promise.sql': {
    statements: '16f0eece8694cacd26f66d4da2c87d767f2e5433da61bea8132bfa84fea8d0f5',
    file: 'fd130a10438976e06f48d6c014039b2b1c0bd580b54464a41c88690e8678537d',
  },
  '0011_credit.sql': {
    statements: 'a54a55c941fbb637e7b7b3b77b702dd7b6315608df112ed5b47e12b0f0d999b0',
    file: '0c7412c2c8f8799f52a7b659cdb7b1146a142783630b5504a92ef686bc7010a3',
  },
  '0012_roles.sql': {
    statements: 'f76f645b548f7437c6affa515f64c79057939c461d53cb92aa1c5f0ed2aa5290',
    file: '3eb4c137717a6f171c3de0085ef387dda949d6d5f9600dfec6ff1737886d9c30',
  },
  '0013_epochs.sql': {
    statements: 'b9013e711b3aad0ddd7644c76bf06f84c6dbb516f7f36557bd2bb46fa511a418',
    file: '1222b10b666a71b12b89ffe6e4c28d9eec367c4ce6f45469dc9f2cd6d3afa117',
  },
  '0014_custody.sql': {
    statements: 'fe688dc7e6bade1d31b9ed267d0b695e0e466ee589e1b3ab4ce52f10c2a7201a',
    file: 'f370eebfb32a0443b8302bd3972396c78e5946798ea1388d0d5b656bd5da6d43',
  },
  '0015_vault.sql': {
    statements: 'df6decd5ddea8e55d24f0d0e1db7762b684978dfb5c2c4740200bce3419fb86f',
    file: 'd33ba465e0aa90b56948653b8ea20fd0760664d7bcd268ecfebc51c627d03ece',
  },
  '0016_sales.sql': {
    statements: '74453b3cf9ebd21151167aa4b15a51041d3b2aa099497643b26f4e351bf6ebb1',
    file: '83660e2e7e38677ce6056852157ddb845238acd01e931226b0dd753c88cf01e9',
  },
  '0017_drift.sql': {
    statements: 'f08e5ae9829dda96ecd440e16a46e249cbd7ee09285e0e041994d67f457a6f63',
    file: '2db6a708651c2568343e9a4cc6415638a91ea9f47560b9ae088c85b1d9b911e3',
  },
  '0018_finding.sql': {
    statements: 'db48206b5a8c8a158bcc33da5e022d9ed76be5fa4c466f74d37c8df2382fae39',
    file: '4c2c2953febc66f1900a72e1d6dab15875341b75f5e1934c65d8c5ba33a27064',
  },
  '0019_console.sql': {
    statements: 'e80145d388b85d37f1769aed9c6f4099e0365f10e900ad710a5f1ae7809b7380',
    file: 'd2615070a7a066f5dc7bfc8deeeda5f9d0b407dd7e132381e6e8fbc30e69600a',
  },
  '0020_embed.sql': {
    statements: '4189ac5362ef7b68075634c3183a0a69f7a348cd08fed5b0eaad88a800d7e3c1',
    file: '33813fd79e1d32b53808d5d3667a5d6102a511acdb4a47187527b1ec0a6b0c31',
  },
  '0021_selling.sql': {
    statements: '99cb1641535b0655751ae68e997fe6aab2e232586fd1cd1802a0b6c5a062e383',
    file: 'f30544465e5eae5ae082cf4f89c6b6cd628607b146d790e36c4f097004b7c1b6',
  },
  '0022_open_trades.sql': {
    statements: '99f2ba1633bb564ad491e8a8e02dad05ef637d09595a7aaa9baff12df28f576e',
    file: 'ffb176358661a8d29196d872dfae8aab198fbb4b8d2710c6ff77a92cb0f98843',
  },
  '0023_bot_calls.sql': {
    statements: '660030ed6d09ea8971107f99ade0627f470b6f71b255303e4452d4d00f0465ac',
    file: '4830c13d37388a5e15ca1060d00cf5a7d2c2f8eca96282d716b3e5c5bbeb422a',
  },
  '0024_alerts.sql': {
    statements: '81fbf9751b1241fcc676299bdb3765d94f96abe59202d67c0e75aa012edd426c',
    file: '757806f80b7bcc397bd08f5851c13a5da67cb2a1bc363929650e759b928d94a5',
  },
  '0027_counts.sql': {
    statements: '23ea683fc8918ccc100624d80af88da5eb708b2c67b98702c6594e223d0a805b',
    file: 'e4751c9ec8e87795aa64cf0d3458c3ba0bc6c9ad29d3009640c07bfb7eabfe88',
  },
  '0028_one_index_of_bots.sql': {
    statements: 'c3bc4a76ddf1b6280ddc64d6007faf1200e4e73e54f76a427d557773729fe4e3',
    file: 'e1918dad88a3dc9b5885c65ba7cc12a8e499ea73809269606ca4c99f470190df',
  },
  '0029_moved_alone.sql': {
    statements: '839ca49ee906b5f34f9cd04cb6936080f18cbb1744f93ce146263ad8a92caab8',
    file: '56669fb7312171d1f910fe55c2b7778fabded6f67f494a3c6a1e0627dc958f73',
  },
  '0031_deeds.sql': {
    statements: 'a23c7f08987d82da3968933bf27c903d82203ff4e66d2bc580a7db4fcdb72ed5',
    file: '8d13929fbf7e6684acc797ddda0ae0e6aeabbae0a3a81345759cd3a9b792d733',
  },
  '0032_first_entries.sql': {
    statements: '11207b54eb36d09efff52368b3c05f84337aff7bc938d9817c71516dbb014f00',
    file: '74b919bca35e1301e41f62d4a18647c865ecd69f5b403cf5b1f6f58d56bb2b77',
  },
  '0033_held_items.sql': {
    statements: '90738ce30e14b162b72df7cf428c785b341c17e56adcd9e69f9dab71ecc25f09',
    file: '8cec94eef336fc1656af195dd9a16113f799bdd3381c346fec9c87e6636c8555',
  },
  '0034_sent_back.sql': {
    statements: '07d88c8536eb26245bad21a595dca6540e08e7633e6a257f7db75d37d318cf97',
    file: '0f236e2deb895c311fedaf077cf533b66bcca4dfd50f6c31db83305577fa62ec',
  },
  '0035_maintenance.sql': {
    statements: '7be82103b4235e5e3bc453a4d9b58bca46641bed85749bbae86927fca707d851',
    file: 'c8227bc276b3f25c715f7bae0039abd7fc7b5b8bfad6e8bac31911f03dc85b09',
  },
  '0036_steam_calls.sql': {
    statements: 'b5d5fd2dc1a3d812dbc09230b98069fe4ffc7b6356bba3568d2a947bad856b8b',
    file: 'fd8938a229c0af025d478ce9546a836c0dfaaf39a814479169603b37e380b649',
  },
  '0037_released_early.sql': {
    statements: 'bdf8973efa2cd249ddb0f48db45b17b02d2af4b4ed4797835fe2c331dda2c9ea',
    file: 'f78b71c0182927284ad4c255fefb3d3e18273492a67d163ebbb60ccb1f00edaa',
  },
  '0038_amounts.sql': {
    statements: '053579297e484956d98e6bd6ec131905de30e0aec13486ab6a1656303f3e2a92',
    file: '4e6149d3912b9c8760146f37ba0b12ac765437d995fb0abd26d41e6f21a4eeea',
  },
  '0039_own_sales.sql': {
    statements: '3b948e349da8bff84770aa0a37f9ebacac7ec8218fca92a591605c8e68c0044f',
    file: '5d7defd61c7f60c495e0635cba97492a3450bb27d29e4b93f3ee61ec054a2b47',
  },
  '0040_own_sale_indexes.sql': {
    statements: '070587ac1f866f5fa3c92d9285889184cc70c6d9680731f1d2e770884b964625',
    file: '0d608b59571d1816a3b586e351cd3a4650db75a7f2198b76ec6f42f1bd256147',
  },
  '0041_priced_as.sql': {
    statements: '81b3510ad777d42daa85728e8a17f8f824c9838435fae7d17a8816f7ac7ef79e',
    file: 'a8ddca2cbdaed1ef31fbd9f3da606fdb0b2e5758cfe166ace644f6a1bda40760',
  },
  '0042_amounts_of_store.sql': {
    statements: 'b9bc1aac69d7e72b24331ed68791b24db14245a8925676a9c44e8216336ee36c',
    file: '87bdf6197ca5df5ab055cb5a8eff866d91baf3ffe0650360e26b5ca701acc6b4',
  },
  '0043_bot_member_since.sql': {
    statements: '9a139c840cc99d8bbaaf87155e61b446f4a38f7e1506574b55f202ca29e5d5b4',
    file: '10cc79ac6d269bcaf62497b316e928b52c1194409890c7672e7fe549253b0842',
  },
  '0044_phase_of_item.sql': {
    statements: 'ab0f03c7aa63fb2f6a0c690967fb2bcc51eecd923b1f69ce042984c1f517c61e',
    file: '5668499036ee3076fc4ddb4d33bd49b5ac1d8f18f2fc27e63d9921eafded6353',
  },
}
