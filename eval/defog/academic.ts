import type { Agent } from '../../src/index.ts';
import { relate } from './relations.ts';

export function customize(agent: Agent): void {
  relate(agent, [
    ['author.oid', 'organization.oid'],
    ['cite.cited', 'publication.pid', 'cited_publication', 'received_citations'],
    ['cite.citing', 'publication.pid', 'citing_publication', 'made_citations'],
    ['domain_author.aid', 'author.aid'],
    ['domain_author.did', 'domain.did'],
    ['domain_conference.cid', 'conference.cid'],
    ['domain_conference.did', 'domain.did'],
    ['domain_journal.did', 'domain.did'],
    ['domain_journal.jid', 'journal.jid'],
    ['domain_keyword.did', 'domain.did'],
    ['domain_keyword.kid', 'keyword.kid', 'keywords'],
    ['domain_publication.did', 'domain.did'],
    ['domain_publication.pid', 'publication.pid'],
    ['publication.cid', 'conference.cid'],
    ['publication.jid', 'journal.jid'],
    ['publication_keyword.pid', 'publication.pid'],
    ['publication_keyword.kid', 'keyword.kid'],
    ['writes.aid', 'author.aid'],
    ['writes.pid', 'publication.pid'],
  ]);
}
